// The tokens as buttons: one is followed. The darker its ground, the more bits it cost the model.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { moveByKeys } from "./keys.js";
import { visible } from "./text.js";

const MOST = 8; // bits, of the darkest ground

/** @type {(parent: Element, data: ModelData, select: (token: number) => void) => (sight: Sight, selected: number) => void} */
export const makeTokens = (parent, data, select) => {
  const box = make(parent, "div", "course-live-tokens");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "tokens: choose one to follow it");
  /** @type {HTMLButtonElement[]} */
  const buttons = [];
  moveByKeys(box);
  return ({ symbols, bits }, selected) => {
    while (buttons.length < symbols.length) {
      const token = buttons.length;
      const button = make(box, "button");
      button.type = "button";
      button.addEventListener("click", () => select(token));
      buttons.push(button);
    }
    while (buttons.length > symbols.length) buttons.pop()?.remove();
    symbols.forEach((symbol, i) => {
      const cost = i ? `${bits[i - 1].toFixed(1)} bits` : "the first";
      buttons[i].textContent = visible(data.vocabulary[symbol]);
      buttons[i].title = cost;
      buttons[i].setAttribute("aria-label", `${data.vocabulary[symbol].trim() || "space"}, token ${i + 1}, ${cost}`);
      buttons[i].setAttribute("aria-pressed", String(i === selected));
      buttons[i].tabIndex = i === selected ? 0 : -1;
      buttons[i].style.setProperty("--weight", String(i ? Math.min(1, bits[i - 1] / MOST) : 0));
    });
  };
};
