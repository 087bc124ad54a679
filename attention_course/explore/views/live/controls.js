// A button and a menu, as all parts of the live model have them.

import { make } from "../parts/dom.js";

/** @type {(parent: Element, text: string, act: () => void) => HTMLButtonElement} */
export const makeButton = (parent, text, act) => {
  const button = make(parent, "button", "", text);
  button.type = "button";
  button.addEventListener("click", () => button.getAttribute("aria-disabled") !== "true" && act());
  return button;
};

// A button that is `disabled` would lose the focus of the keyboard: this one keeps it, and does nothing.
/** @type {(button: HTMLButtonElement, on: boolean) => void} */
export const enable = (button, on) => button.setAttribute("aria-disabled", String(!on));

/** @type {(parent: Element, label: string, options: string[], set: (index: number) => void) => HTMLSelectElement} */
export const makeMenu = (parent, label, options, set) => {
  const menu = make(make(parent, "label", "", `${label} `), "select");
  for (const text of options) menu.add(new Option(text));
  menu.addEventListener("change", () => set(menu.selectedIndex));
  return menu;
};
