// Displayed formulas that are wider than the page, as most are on a phone: first they are set smaller, then broken
// at their outermost relations and operators, then set smaller still, as far as they can be read.
const WHOLE = 13; // px, for a formula in one piece
const BROKEN = 15;
const SMALLEST = 12;

/**
 * How far a formula's letters must shrink for it to fit.
 * @param {HTMLElement} box
 */
const shrinkage = (box) => {
  const drawn = /** @type {HTMLElement} */ (box.querySelector(".katex-html"));
  return Math.min(1, box.clientWidth / drawn.scrollWidth);
};

/** @param {HTMLElement} box */
const fit = (box) => {
  box.classList.remove("formula-broken");
  box.classList.add("formula-fitted");
  box.style.fontSize = "";
  if (!box.clientWidth) return; // in a fold that is closed
  const formula = /** @type {HTMLElement} */ (box.querySelector(".katex"));
  const natural = parseFloat(getComputedStyle(formula).fontSize);
  /** @param {number} size */
  const setSize = (size) => {
    // A formula's letters are larger than its surroundings', by a factor that is KaTeX's.
    if (size < natural) box.style.fontSize = `${(100 * Math.floor(2 * size)) / (2 * natural)}%`;
  };

  if (shrinkage(box) * natural >= WHOLE) {
    setSize(shrinkage(box) * natural);
    return;
  }
  box.classList.add("formula-broken");
  setSize(BROKEN);
  if (shrinkage(box) < 1) setSize(Math.max(SMALLEST, shrinkage(box) * BROKEN));
};

addEventListener("course-fit", () => {
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".katex-display"))) fit(box);
});
