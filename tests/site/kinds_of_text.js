// Run in a page by visits.py: marks one element of each kind of text, so that contrast need not be computed for
// thousands of words that look the same. A kind is all that contrast depends on: the text's own colour and size,
// and everything that is painted behind it. Axe passes over what is hidden from screen readers.
() => {
  const painted = new Map();
  const behind = (element) => {
    if (!element) return "";
    if (!painted.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode, style.position];
      const plain = own.join() === "rgba(0, 0, 0, 0),none,1,none,normal,static";
      painted.set(element, behind(element.parentElement) + (plain ? "" : `/${own}`));
    }
    return painted.get(element);
  };

  const seen = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    if (!element.checkVisibility() || element.closest("[aria-hidden=true]")) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const kind = [color, fontSize, fontWeight, textShadow, behind(element)].join("|");
    if (!seen.has(kind)) element.dataset.kindOfText = "";
    seen.add(kind);
  }
  return seen.size;
}
