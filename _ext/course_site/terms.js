// Makes a button of each word that the glossary explains. The button shows the glossary's entry, which follows the
// page's text, beside the word. The word stays text of its line: it breaks, and can be selected, as before.

const GAP = 6; // pixels between a word and its entry

// Below the word in the upper half of the screen, above it in the lower half; style keeps it inside the sides.
/** @type {(entry: HTMLElement, word: HTMLElement) => void} */
const place = (entry, word) => {
  const { left, top, bottom } = word.getBoundingClientRect();
  const { clientHeight } = document.documentElement;
  const isBelow = top + bottom < clientHeight;
  const room = isBelow ? clientHeight - bottom : top;
  entry.style.setProperty("--word", `${left}px`);
  entry.style.top = isBelow ? `${bottom + GAP + scrollY}px` : "auto";
  entry.style.bottom = isBelow ? "auto" : `${clientHeight - top + GAP - scrollY}px`;
  entry.style.maxHeight = `${room - 2 * GAP}px`;
};

/** @type {(word: HTMLElement, entry: HTMLElement, id: string) => void} */
const mount = (word, entry, id) => {
  const term = /** @type {HTMLElement} */ (entry.querySelector(".course-entry-term"));
  term.id = `${id}-name`;
  entry.id = id;
  entry.popover = "auto";
  entry.tabIndex = -1;
  entry.setAttribute("role", "dialog");
  entry.setAttribute("aria-labelledby", term.id);
  word.tabIndex = 0;
  word.setAttribute("role", "button");
  word.setAttribute("aria-haspopup", "dialog");
  word.setAttribute("aria-expanded", "false");

  const isOpen = () => entry.matches(":popover-open");
  const show = () => {
    place(entry, word);
    entry.showPopover({ source: word }); // Tab goes on from the word, not from the end of the page
    entry.focus({ preventScroll: true });
  };
  let wasOpen = false; // a press anywhere outside the entry closes it, also one on its word, before the click
  word.addEventListener("pointerdown", () => (wasOpen = isOpen()));
  word.addEventListener("click", () => {
    if (!wasOpen) show();
    wasOpen = false;
  });
  word.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (isOpen()) entry.hidePopover();
    else show();
  });
  for (const part of [word, entry]) {
    part.addEventListener("focusout", ({ relatedTarget: next }) => {
      if (next instanceof Node && next !== word && !entry.contains(next)) entry.hidePopover();
    });
  }
  entry.addEventListener("toggle", () => {
    word.setAttribute("aria-expanded", String(isOpen()));
    const hasLostFocus = document.activeElement === document.body;
    if (!isOpen() && hasLostFocus) word.focus({ preventScroll: true });
  });
};

const list = /** @type {HTMLElement} */ (document.querySelector(".course-terms"));
if ("popover" in HTMLElement.prototype) {
  const words = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".course-term"));
  const entries = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".course-entry"));
  words.forEach((word, index) => mount(word, entries[index], `course-entry-${index}`));
  list.hidden = false;
}
