// The characters as buttons: one is followed. The more of it is blue, the more bits it cost the model.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { nameOf, visible } from "./characters.js";
import { makeButton } from "./controls.js";
import { moveInRows } from "./lists.js";

const MOST = 8; // bits, of one that is all blue

// How much of a character is blue, from 0 to 1.
export const fill = (/** @type {number} */ bits) => Math.min(1, bits / MOST);

const makeLegend = (/** @type {Element} */ parent) => {
  const legend = make(parent, "p", "course-live-legend", "The more blue, the greater the surprise, in bits:");
  for (const bits of [0, MOST / 2, MOST]) {
    const swatch = make(make(legend, "span"), "i");
    swatch.style.setProperty("--weight", String(fill(bits)));
    swatch.after(bits < MOST ? String(bits) : `${bits} or more`);
  }
};

/** @type {(parent: Element, data: ModelData, select: (token: number) => void) => (sight: Sight, selected: number) => void} */
export const makeTokens = (parent, data, select) => {
  const box = make(parent, "div", "course-live-tokens");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "characters: choose one to follow it");
  makeLegend(parent);
  /** @type {HTMLButtonElement[]} */
  const buttons = [];
  moveInRows(box, true);
  return ({ symbols, bits }, selected) => {
    while (buttons.length < symbols.length) {
      const token = buttons.length;
      buttons.push(makeButton(box, "", () => select(token)));
    }
    while (buttons.length > symbols.length) buttons.pop()?.remove();
    symbols.forEach((symbol, i) => {
      const cost = i ? `${bits[i - 1].toFixed(1)} bits` : "the first";
      buttons[i].textContent = visible(data.vocabulary[symbol]);
      buttons[i].title = cost;
      buttons[i].setAttribute("aria-label", `${nameOf(data.vocabulary[symbol])}, character ${i + 1}, ${cost}`);
      buttons[i].setAttribute("aria-pressed", String(i === selected));
      buttons[i].tabIndex = i === selected ? 0 : -1;
      buttons[i].style.setProperty("--weight", String(i ? fill(bits[i - 1]) : 0));
    });
  };
};
