// Many buttons in rows, of which the keyboard reaches one: arrows and the ends go to another, or choose it at once.

/** @type {(button: HTMLElement) => number} */
const middle = (button) => button.offsetLeft + button.offsetWidth / 2;

// In the next row, upwards (-1) or downwards (1), the button that is nearest.
/** @type {(buttons: HTMLElement[], from: HTMLElement, way: number) => HTMLElement | undefined} */
const findBeside = (buttons, from, way) => {
  const beyond = buttons.filter((button) => way * (button.offsetTop - from.offsetTop) > 0);
  const row = Math.min(...beyond.map((button) => way * button.offsetTop));
  const far = (/** @type {HTMLElement} */ button) => Math.abs(middle(button) - middle(from));
  return beyond.filter((button) => way * button.offsetTop === row).sort((a, b) => far(a) - far(b))[0];
};

// Returns what brings the tab stop back to the first.
/** @type {(box: HTMLElement, choose?: boolean) => () => void} */
export const moveInRows = (box, choose = false) => {
  const all = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button:not([hidden])")]);
  /** @type {(stop: EventTarget | null | undefined) => void} */
  const put = (stop) => all().forEach((button) => (button.tabIndex = button === stop ? 0 : -1));
  box.addEventListener("focusin", ({ target }) => put(target));
  box.addEventListener("keydown", (event) => {
    const buttons = all();
    const at = buttons.findIndex((button) => button === event.target);
    if (at < 0) return;
    /** @type {Record<string, HTMLElement | undefined>} */
    const moves = {
      ArrowRight: buttons[at + 1],
      ArrowLeft: buttons[at - 1],
      ArrowDown: findBeside(buttons, buttons[at], 1),
      ArrowUp: findBeside(buttons, buttons[at], -1),
      Home: buttons[0],
      End: buttons[buttons.length - 1],
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]?.focus();
    if (choose) moves[event.key]?.click();
  });
  return () => put(all()[0]);
};
