// A box that scrolls sideways can be reached, and so scrolled, with the keyboard; one that does not is no stop.
const SCROLLERS = "pre, .katex-display, .pst-scrollable-table-container, .cell_output .text_html";

const markScrollers = () => {
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(SCROLLERS))) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};

addEventListener("load", markScrollers);
addEventListener("resize", markScrollers);
// A solution's code has no size until it is opened; many may open at once.
let waitingScrollers = 0;
const markScrollersSoon = () => {
  waitingScrollers ||= requestAnimationFrame(() => {
    waitingScrollers = 0;
    markScrollers();
  });
};
document.addEventListener("toggle", markScrollersSoon, true);
