// What is seen, on one canvas: the text with its surprises, the likeliest next symbols and the maps on show.

/** @import { ModelData, Sampling, Sight } from "../../types" */
import { penOf, readColours, resize } from "../parts/maps.js";
import { tellCost, tellOff } from "./changes.js";
import { rank, tellWhere } from "./next.js";
import { visible } from "./text.js";
import { fill } from "./tokens.js";

const [WIDTH, MARGIN, LINE, SHOWN] = [680, 20, 24, 8];
const OFF = 0.35; // as the stylesheet has it
const TOKEN = { width: 20, height: 30 };

/** @type {(root: HTMLElement, data: ModelData, sight: Sight, selected: number, sampling: Sampling) => HTMLCanvasElement} */
export const drawPicture = (root, data, sight, selected, sampling) => {
  const colours = readColours(root);
  const sans = `15px ${getComputedStyle(root).fontFamily}`;
  const mono = "15px monospace";
  const names = sight.symbols.map((symbol) => visible(data.vocabulary[symbol]));
  const maps = Array.from(root.querySelectorAll("figure")).filter((figure) => !figure.closest("details:not([open])"));

  // Draws from above to below, and returns where it ends.
  const paint = (/** @type {CanvasRenderingContext2D} */ pen) => {
    let y = MARGIN;
    /** @type {(text: string, x: number, at: number, font?: string) => void} */
    const write = (text, x, at, font = sans) => {
      [pen.font, pen.fillStyle, pen.textBaseline] = [font, colours.ink, "middle"];
      pen.fillText(text, x, at);
    };
    /** @type {(x: number, at: number, width: number, height: number) => void} */
    const tint = (x, at, width, height) => {
      [pen.fillStyle, pen.globalAlpha] = [colours.line, 0.3];
      pen.fillRect(x, at, width, height);
      pen.globalAlpha = 1;
    };
    // As many lines as the words need.
    const line = (/** @type {string} */ text) => {
      pen.font = sans;
      let now = "";
      for (const word of text.split(" ")) {
        if (now && pen.measureText(`${now} ${word}`).width > WIDTH - 2 * MARGIN) {
          write(now, MARGIN, y + LINE / 2);
          [now, y] = ["", y + LINE];
        }
        now = now ? `${now} ${word}` : word;
      }
      if (now) write(now, MARGIN, y + LINE / 2);
      if (now) y += LINE;
    };
    pen.fillStyle = colours.low;
    pen.fillRect(0, 0, WIDTH, pen.canvas.height);

    const across = Math.floor((WIDTH - 2 * MARGIN) / TOKEN.width);
    names.forEach((name, i) => {
      const [x, top] = [MARGIN + (i % across) * TOKEN.width, y + Math.floor(i / across) * TOKEN.height];
      const height = (i ? fill(sight.bits[i - 1]) : 0) * (TOKEN.height - 2);
      tint(x, top + TOKEN.height - 2 - height, TOKEN.width - 2, height);
      if (i === selected) [pen.strokeStyle, pen.lineWidth] = [colours.ink, 2];
      if (i === selected) pen.strokeRect(x, top, TOKEN.width - 2, TOKEN.height - 2);
      write(name, x + 4, top + TOKEN.height / 2, mono);
    });
    y += Math.ceil(names.length / across) * TOKEN.height + LINE / 2;
    line("The more blue, the more the character surprised the model (all blue: 8 bits or more).");
    line(tellCost(data, sight));
    line(tellOff(sight.changes, data.sizes.masked));
    y += LINE / 2;
    line(`${tellWhere(data, sight.symbols, selected)}:`);
    for (const { symbol, share } of rank(data, sight, selected, sampling).filter(({ stays }) => stays).slice(0, SHOWN)) {
      tint(MARGIN + 90, y + 2, share * (WIDTH - 2 * MARGIN - 90), LINE - 4);
      write(visible(data.vocabulary[symbol]), MARGIN + 4, y + LINE / 2, mono);
      write(`${(100 * share).toFixed(1)}%`, MARGIN + 30, y + LINE / 2);
      y += LINE;
    }
    y += LINE / 2;

    let [x, below] = [MARGIN, y];
    for (const figure of maps) {
      const map = /** @type {HTMLCanvasElement} */ (figure.querySelector("canvas"));
      const [width, height] = [parseFloat(map.style.width), parseFloat(map.style.height)];
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

  const canvas = document.createElement("canvas");
  resize(canvas, WIDTH, paint(penOf(canvas))); // the first time to see how high it is
  paint(penOf(canvas));
  return canvas;
};
