// A row of buttons of which the keyboard reaches one: arrows and the row's ends choose another.

/** @type {(box: HTMLElement) => void} */
export const moveByKeys = (box) =>
  box.addEventListener("keydown", (event) => {
    const at = Array.from(box.children).findIndex((button) => button === event.target);
    /** @type {Record<string, number>} */
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: box.childElementCount - 1 };
    const next = box.children[moves[event.key]];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
    next.click();
  });
