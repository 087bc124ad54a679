// The characters as buttons: one is chosen, and the more of another is blue, the more the chosen one looks at it.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { nameOf, visible } from "./characters.js";
import { makeButton } from "./controls.js";
import { moveInRows } from "./lists.js";
import { rewrite } from "./rewrite.js";

/** @type {(parent: Element, data: ModelData, select: (token: number) => void) => (sight: Sight, selected: number, row: number[]) => void} */
export const makeTokens = (parent, data, select) => {
  const box = make(parent, "div", "course-live-tokens");
  box.translate = false;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "characters: choose one to see what it looks at");
  /** @type {HTMLButtonElement[]} */
  const buttons = [];
  moveInRows(box, true);
  return ({ symbols, bits, changes }, selected, row) => {
    while (buttons.length < symbols.length) {
      const token = buttons.length;
      buttons.push(makeButton(box, "", () => select(token)));
    }
    while (buttons.length > symbols.length) buttons.pop()?.remove();
    symbols.forEach((symbol, i) => {
      const cost = i ? `${bits[i - 1].toFixed(1)} bits` : "the first";
      const button = buttons[i];
      rewrite(button, visible(data.vocabulary[symbol]));
      button.title = `${(100 * row[i]).toFixed(1)}%`;
      button.setAttribute("aria-label", `${nameOf(data.vocabulary[symbol])}, character ${i + 1}, ${cost}`);
      button.setAttribute("aria-pressed", String(i === selected));
      button.tabIndex = i === selected ? 0 : -1;
      button.classList.toggle("course-live-later", changes.masked && i > selected);
      button.style.setProperty("--weight", String(row[i]));
    });
  };
};
