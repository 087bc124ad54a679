// Run in a page by conftest.py: what is meant to be read and lies outside of the box that it is read in.
() => {
  const BOXES = [
    "pre",
    ".katex-display",
    "table",
    "img",
    "svg",
    ".course-explorer",
    ".cell_output",
    ".pst-scrollable-table-container",
  ];
  const article = document.querySelector("article");
  const { left, right } = article.getBoundingClientRect();
  const label = (element) => {
    const words = (element.querySelector("annotation")?.textContent ?? element.textContent ?? "").trim();
    return `${element.localName}.${element.getAttribute("class") ?? ""}: ${words.slice(0, 60)}`;
  };
  const wide = [...article.querySelectorAll(BOXES.join())].filter((element) => {
    if (!element.checkVisibility() || element.closest("[aria-hidden=true]")) return false;
    const box = element.getBoundingClientRect();
    const scrolls = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline";
    return box.left < left - 1 || box.right > right + 1 || (element.clientWidth > 0 && scrolls);
  });
  const small = [...article.querySelectorAll("p, li, summary, label, button")].filter(
    (element) => element.checkVisibility() && element.textContent.trim() && !element.closest("table") &&
      !element.closest("svg") && parseFloat(getComputedStyle(element).fontSize) < 14,
  );
  const unreadable = [...article.querySelectorAll(".katex-display > .katex")].filter(
    (element) => element.checkVisibility() && parseFloat(getComputedStyle(element).fontSize) < 11.9,
  );
  return {
    wide: wide.map(label),
    small: small.map(label),
    unreadable: unreadable.map(label),
  };
}
