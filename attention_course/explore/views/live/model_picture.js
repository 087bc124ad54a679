// The live model as a picture: the text with its surprises, the likeliest next symbols and the maps on show.

/** @import { Looks, ModelData, Sampling, Sight } from "../../types" */
/** @import { Place } from "./chooser.js" */
/** @import { Paper } from "./picture.js" */
import { tellCost, tellHeldOut, tellOff } from "./changes.js";
import { visible } from "./characters.js";
import { listShown } from "./chooser.js";
import { meanRow, tellLooks } from "./looks.js";
import { rank, tellWhere } from "./next.js";
import { drawPicture, LINE, MARGIN, SHOWN, WIDTH } from "./picture.js";
import { fill } from "./surprise.js";

const MONO = "15px monospace";
const TOKEN = { width: 20, height: 30 };

// The text, each character filled as far as its share says.
/** @type {(paper: Paper, names: string[], shares: number[], selected: number, colour: string) => void} */
const drawText = (paper, names, shares, selected, colour) => {
  const { pen, colours, write, tint } = paper;
  const across = Math.floor((WIDTH - 2 * MARGIN) / TOKEN.width);
  names.forEach((name, i) => {
    const [x, top] = [MARGIN + (i % across) * TOKEN.width, paper.y + Math.floor(i / across) * TOKEN.height];
    const height = shares[i] * (TOKEN.height - 2);
    tint(x, top + TOKEN.height - 2 - height, TOKEN.width - 2, height, colour);
    if (i === selected) [pen.strokeStyle, pen.lineWidth] = [colours.ink, 2];
    if (i === selected) pen.strokeRect(x, top, TOKEN.width - 2, TOKEN.height - 2);
    write(name, x + 4, top + TOKEN.height / 2, MONO);
  });
  paper.y += Math.ceil(names.length / across) * TOKEN.height + LINE / 2;
};

/** @type {(root: HTMLElement, data: ModelData, sight: Sight, selected: number, sampling: Sampling, looks: Looks, chosen: Place) => HTMLCanvasElement} */
export const drawModel = (root, data, sight, selected, sampling, looks, chosen) =>
  drawPicture(root, (paper) => {
    const { colours, line, bar } = paper;
    drawText(paper, looks.keys, meanRow(looks, listShown(data.sizes, chosen), selected), selected, colours.line);
    line("The more blue, the more the framed character looks there.");
    line(tellLooks(looks, data.sizes, chosen, selected, looks.keys));
    paper.y += LINE / 2;
    drawText(paper, looks.keys, [0, ...sight.bits.map(fill)], selected, colours.gold);
    line("The more orange, the more the character surprised the model (all orange: 8 bits or more).");
    line(tellCost(data, sight));
    line(tellOff(data.sizes, sight.changes));
    line(tellHeldOut(data, sight.changes));
    paper.y += LINE / 2;
    line(`${tellWhere(data, sight.symbols, selected, sampling)}:`);
    for (const { symbol, share } of rank(data, sight, selected, sampling).filter(({ stays }) => stays).slice(0, SHOWN)) {
      bar(visible(data.vocabulary[symbol]), share, `${(100 * share).toFixed(1)}%`, 30, MONO);
    }
    paper.y += LINE / 2;
  });
