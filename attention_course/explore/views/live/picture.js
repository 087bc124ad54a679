// What is seen, on one canvas: what a view puts first, in words and bars, and then the maps on show.

import { penOf, readColours, resize } from "../parts/maps.js";

/** @typedef {ReturnType<typeof makePaper>} Paper */

export const [WIDTH, MARGIN, LINE, SHOWN] = [680, 20, 24, 8]; // SHOWN is how many of the likeliest are
const OFF = 0.35; // as the stylesheet has it
const BAR = 60; // right of its name stands a bar's number, and then the bar

// Puts one below the other; `y` is where the next begins.
/** @param {CanvasRenderingContext2D} pen @param {HTMLElement} root */
const makePaper = (pen, root) => {
  const colours = readColours(root);
  const sans = `15px ${getComputedStyle(root).fontFamily}`;
  /** @type {(text: string, x: number, at: number, font?: string) => void} */
  const write = (text, x, at, font = sans) => {
    [pen.font, pen.fillStyle, pen.textBaseline] = [font, colours.ink, "middle"];
    pen.fillText(text, x, at);
  };
  /** @type {(x: number, at: number, width: number, height: number, colour?: string) => void} */
  const tint = (x, at, width, height, colour = colours.line) => {
    [pen.fillStyle, pen.globalAlpha] = [colour, 0.3];
    pen.fillRect(x, at, width, height);
    pen.globalAlpha = 1;
  };
  // As many lines as the words need.
  const line = (/** @type {string} */ text) => {
    pen.font = sans;
    let now = "";
    for (const word of text.split(" ")) {
      if (now && pen.measureText(`${now} ${word}`).width > WIDTH - 2 * MARGIN) {
        write(now, MARGIN, paper.y + LINE / 2);
        [now, paper.y] = ["", paper.y + LINE];
      }
      now = now ? `${now} ${word}` : word;
    }
    if (now) write(now, MARGIN, paper.y + LINE / 2);
    if (now) paper.y += LINE;
  };
  // A share of the whole as a number and a bar, `wide` pixels right of its name.
  /** @type {(name: string, share: number, told: string, wide: number, font?: string) => void} */
  const bar = (name, share, told, wide, font) => {
    const left = MARGIN + wide + BAR;
    tint(left, paper.y + 2, share * (WIDTH - MARGIN - left), LINE - 4);
    write(name, MARGIN + 4, paper.y + LINE / 2, font);
    write(told, MARGIN + wide, paper.y + LINE / 2);
    paper.y += LINE;
  };
  const paper = { pen, colours, sans, y: MARGIN, write, tint, line, bar };
  return paper;
};

// Those of a view's maps that are not folded away, beside and below each other; returns where they end.
/** @type {(paper: Paper, root: HTMLElement) => number} */
const drawMaps = ({ pen, y, write }, root) => {
  let [x, below] = [MARGIN, y];
  for (const figure of root.querySelectorAll("figure")) {
    if (figure.closest("details:not([open])")) continue;
    const map = /** @type {HTMLCanvasElement} */ (figure.querySelector("canvas"));
    const wide = parseFloat(map.style.width);
    const scale = Math.min(1, (WIDTH - 2 * MARGIN) / wide);
    const [width, height] = [scale * wide, scale * parseFloat(map.style.height)];
    const room = Math.max(width, 130) + MARGIN;
    if (x > MARGIN && x + room > WIDTH) [x, y] = [MARGIN, below];
    write(figure.innerText.trim(), x, y + LINE / 2);
    if (map.classList.contains("course-live-off")) pen.globalAlpha = OFF;
    if (map.width && map.height) pen.drawImage(map, x, y + LINE, width, height);
    pen.globalAlpha = 1;
    below = Math.max(below, y + LINE + height + MARGIN);
    x += room;
  }
  return below + MARGIN;
};

/** @type {(root: HTMLElement, begin: (paper: Paper) => void) => HTMLCanvasElement} */
export const drawPicture = (root, begin) => {
  // Draws from above to below, and returns where it ends.
  const paint = (/** @type {CanvasRenderingContext2D} */ pen) => {
    const paper = makePaper(pen, root);
    pen.fillStyle = paper.colours.low;
    pen.fillRect(0, 0, WIDTH, pen.canvas.height);
    begin(paper);
    return drawMaps(paper, root);
  };
  const canvas = document.createElement("canvas");
  resize(canvas, WIDTH, paint(penOf(canvas))); // the first time to see how high it is
  paint(penOf(canvas));
  return canvas;
};
