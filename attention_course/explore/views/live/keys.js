// Many buttons of which the keyboard reaches one: arrows and the ends choose another, or only go there.

/** @type {(box: HTMLElement, choose?: boolean) => void} */
export const moveByKeys = (box, choose = true) =>
  box.addEventListener("keydown", (event) => {
    const at = Array.from(box.children).findIndex((button) => button === event.target);
    /** @type {Record<string, number>} */
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: box.childElementCount - 1 };
    const next = box.children[moves[event.key]];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
    if (choose) next.click();
  });
