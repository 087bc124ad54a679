// Run in a page by visits.py before axe, which lays a grid over every element: most are the coloured words of code, and
// the boxes of formulas. Words become plain text, but for one of each kind, whose contrast is computed, and for those
// with more than a class. The boxes go: axe passes over them, as screen readers do.
() => {
  for (const word of document.querySelectorAll("pre span:not(.code-line, [data-kind-of-text])")) {
    const bare = [...word.attributes].every(({ name }) => name === "class");
    if (bare && !word.firstElementChild) word.replaceWith(...word.childNodes);
  }
  for (const boxes of document.querySelectorAll(".katex-html")) boxes.replaceChildren();
}
