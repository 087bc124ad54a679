// What every view needs to put elements on a page.

/** @import { Make } from "../../types" */

/** @type {Make} */
export const make = (parent, tag, name, text = "") => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text; // tokens are text, never HTML
  parent.append(element);
  return element;
};
