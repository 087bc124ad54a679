// Text that stands there already is left alone: a change would have the page laid out anew.
/** @type {(element: Element, text: string) => void} */
export const rewrite = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};
