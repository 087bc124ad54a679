// The live model as a picture: the text with its surprises, the likeliest next symbols and the maps on show.

/** @import { ModelData, Sampling, Sight } from "../../types" */
import { tellCost, tellOff } from "./changes.js";
import { visible } from "./characters.js";
import { rank, tellWhere } from "./next.js";
import { drawPicture, LINE, MARGIN, SHOWN, WIDTH } from "./picture.js";
import { fill } from "./tokens.js";

const MONO = "15px monospace";
const TOKEN = { width: 20, height: 30 };

/** @type {(root: HTMLElement, data: ModelData, sight: Sight, selected: number, sampling: Sampling) => HTMLCanvasElement} */
export const drawModel = (root, data, sight, selected, sampling) =>
  drawPicture(root, (paper) => {
    const { pen, colours, write, tint, line, bar } = paper;
    const across = Math.floor((WIDTH - 2 * MARGIN) / TOKEN.width);
    sight.symbols.forEach((symbol, i) => {
      const [x, top] = [MARGIN + (i % across) * TOKEN.width, paper.y + Math.floor(i / across) * TOKEN.height];
      const height = (i ? fill(sight.bits[i - 1]) : 0) * (TOKEN.height - 2);
      tint(x, top + TOKEN.height - 2 - height, TOKEN.width - 2, height);
      if (i === selected) [pen.strokeStyle, pen.lineWidth] = [colours.ink, 2];
      if (i === selected) pen.strokeRect(x, top, TOKEN.width - 2, TOKEN.height - 2);
      write(visible(data.vocabulary[symbol]), x + 4, top + TOKEN.height / 2, MONO);
    });
    paper.y += Math.ceil(sight.symbols.length / across) * TOKEN.height + LINE / 2;
    line("The more blue, the more the character surprised the model (all blue: 8 bits or more).");
    line(tellCost(data, sight));
    line(tellOff(sight.changes, data.sizes.masked));
    paper.y += LINE / 2;
    line(`${tellWhere(data, sight.symbols, selected)}:`);
    for (const { symbol, share } of rank(data, sight, selected, sampling).filter(({ stays }) => stays).slice(0, SHOWN)) {
      bar(visible(data.vocabulary[symbol]), share, `${(100 * share).toFixed(1)}%`, 30, MONO);
    }
    paper.y += LINE / 2;
  });
