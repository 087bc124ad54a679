// The text once more: the more of a character is orange, the more bits it cost the model.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { visible } from "./characters.js";
import { rewrite } from "./rewrite.js";

const MOST = 8; // bits, of one that is all orange

// How much of a character is orange, from 0 to 1.
export const fill = (/** @type {number} */ bits) => Math.min(1, bits / MOST);

const makeLegend = (/** @type {Element} */ parent) => {
  const legend = make(parent, "p", "course-live-legend", "The more orange, the greater the surprise, in bits:");
  for (const bits of [0, MOST / 2, MOST]) {
    const swatch = make(make(legend, "span"), "i");
    swatch.style.setProperty("--weight", String(fill(bits)));
    swatch.after(bits < MOST ? String(bits) : `${bits} or more`);
  }
};

/** @type {(parent: Element, data: ModelData) => (sight: Sight, selected: number) => void} */
export const makeSurprise = (parent, data) => {
  make(parent, "p", "course-live-heading", "What surprised it");
  const box = make(parent, "div", "course-live-surprise");
  box.translate = false;
  box.setAttribute("aria-hidden", "true"); // each cost is in the name of the character's button above
  makeLegend(parent);
  return ({ symbols, bits }, selected) => {
    while (box.childElementCount < symbols.length) make(box, "span");
    while (box.childElementCount > symbols.length) box.lastElementChild?.remove();
    [...box.children].forEach((character, i) => {
      const one = /** @type {HTMLElement} */ (character);
      rewrite(one, visible(data.vocabulary[symbols[i]]));
      one.title = i ? `${bits[i - 1].toFixed(1)} bits` : "the first";
      one.classList.toggle("course-live-now", i === selected);
      one.style.setProperty("--weight", String(i ? fill(bits[i - 1]) : 0));
    });
  };
};
