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

// A name that nothing else on the page has. Each widget of a notebook runs a copy of this: they could not count on.
export const uniqueId = (/** @type {string} */ name) => `${name}-${Math.random().toString(36).slice(2)}`;
