// Whenever the page's layout may have changed, tells what is fitted into it: "course-fit". A box that still scrolls
// sideways then can be reached, and so scrolled, with the keyboard; one that does not is no stop.
const SCROLLERS = "pre, .katex-display, .pst-scrollable-table-container, .cell_output .text_html";

const fitPage = () => {
  dispatchEvent(new Event("course-fit"));
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(SCROLLERS))) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};

document.fonts.ready.then(fitPage);
addEventListener("load", fitPage);
addEventListener("resize", fitPage);
// What is in a fold has no size until it is opened; many may open at once.
let waitingFit = 0;
const fitPageSoon = () => {
  waitingFit ||= requestAnimationFrame(() => {
    waitingFit = 0;
    fitPage();
  });
};
document.addEventListener("toggle", fitPageSoon, true);

// Paper is light: on a dark page much would be printed pale, or dark on dark. Afterwards the page is as it was.
const marksOfPage = document.documentElement.dataset;
const [printing, darkSystem] = ["print", "(prefers-color-scheme: dark)"].map((query) => matchMedia(query));
/** @type {string | undefined} */
let onScreen; // the page's theme, while it is printed
const lighten = () => {
  onScreen ??= marksOfPage.theme;
  marksOfPage.theme = "light";
};
const restoreTheme = () => {
  if (!onScreen) return;
  // A browser may tell the page that prints, and so the theme, that the system is light.
  marksOfPage.theme = marksOfPage.mode !== "auto" ? onScreen : darkSystem.matches ? "dark" : "light";
  onScreen = undefined;
};
printing.addEventListener("change", () => (printing.matches ? lighten() : restoreTheme()));
addEventListener("beforeprint", lighten);
addEventListener("afterprint", restoreTheme);
