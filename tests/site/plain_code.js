// Run in a page by visits.py before axe, which lays a grid over every element: most are the coloured words of code.
// Those become plain text, but for one of each kind, whose contrast is computed, and for those with more than a class.
() => {
  for (const word of document.querySelectorAll("pre span:not(.code-line, [data-kind-of-text])")) {
    const bare = [...word.attributes].every(({ name }) => name === "class");
    if (bare && !word.firstElementChild) word.replaceWith(...word.childNodes);
  }
}
