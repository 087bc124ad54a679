// Parts of a model that can be switched off.

import { make } from "../parts/dom.js";

/** @type {(parent: Element, text: string, checked: boolean, set: (on: boolean) => void) => HTMLInputElement} */
export const makeCheck = (parent, text, checked, set) => {
  const label = make(parent, "label", "course-live-check");
  const input = make(label, "input");
  input.type = "checkbox";
  input.checked = checked;
  make(label, "span", "", text);
  input.addEventListener("change", () => set(input.checked));
  return input;
};

// Those that are off, with one of them switched.
/** @type {(list: number[], item: number, on: boolean) => number[]} */
export const without = (list, item, on) => (on ? list.filter((other) => other !== item) : [...list, item].sort((a, b) => a - b));
