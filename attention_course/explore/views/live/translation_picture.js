// The translator as a picture: both rows of words, the likeliest words for the chosen place and the maps on show.

/** @import { Translating, TranslationSight, TranslatorData } from "../../types" */
/** @import { Paper } from "./picture.js" */
import { tellShare } from "./instead.js";
import { softmax } from "./layers.js";
import { mostSeen, strongest } from "./numbers.js";
import { tellOut, tellRates } from "./omissions.js";
import { drawPicture, LINE, MARGIN, SHOWN, WIDTH } from "./picture.js";
import { STRONGEST } from "./rows.js";

const [PAD, SPACE, BETWEEN, NAME] = [9, 6, 60, 110];
const HEIGHT = 30;

// Where words stand, in as many rows as they need.
/** @type {(paper: Paper, words: string[]) => { word: string, x: number, y: number, width: number }[]} */
const place = (paper, words) => {
  let x = MARGIN;
  paper.pen.font = paper.sans;
  const boxes = words.map((word) => {
    const width = paper.pen.measureText(word).width + 2 * PAD;
    if (x > MARGIN && x + width > WIDTH - MARGIN) [x, paper.y] = [MARGIN, paper.y + HEIGHT + SPACE];
    const box = { word, x, y: paper.y, width };
    x += width + SPACE;
    return box;
  });
  paper.y += HEIGHT;
  return boxes;
};

/** @type {(root: HTMLElement, data: TranslatorData, sight: TranslationSight, looks: number[][], chosen: Translating) => HTMLCanvasElement} */
export const drawTranslation = (root, data, sight, looks, { selected, forced }) =>
  drawPicture(root, (paper) => {
    const { pen, colours, write, tint, line, bar } = paper;
    const { vocabulary } = data;
    const words = looks.map((_, i) => vocabulary[sight.written[i]] ?? "…");
    const row = looks[selected];
    const above = place(paper, sight.source.map((symbol) => vocabulary[symbol]));
    paper.y += BETWEEN;
    const below = place(paper, words);
    const to = below[selected];
    for (const key of mostSeen(row, STRONGEST)) {
      const from = above[key];
      [pen.strokeStyle, pen.lineWidth, pen.globalAlpha] = [colours.line, 1 + 5 * row[key], 0.35 + 0.65 * row[key]];
      pen.beginPath();
      pen.moveTo(from.x + from.width / 2, from.y + HEIGHT);
      pen.lineTo(to.x + to.width / 2, to.y);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    [...above, ...below].forEach(({ word, x, y, width }, i) => {
      const written = i - above.length;
      pen.fillStyle = colours.low; // lines run behind words
      pen.fillRect(x, y, width, HEIGHT);
      if (written < 0) tint(x, y + HEIGHT * (1 - row[i]), width, HEIGHT * row[i]);
      const isForced = forced.includes(written);
      pen.strokeStyle = written === selected ? colours.ink : isForced ? colours.gold : colours.quiet; // as on the page
      pen.lineWidth = isForced || written === selected ? 2 : 0.5;
      pen.setLineDash(isForced ? [5, 4] : []);
      if (written >= 0) pen.strokeRect(x, y, width, HEIGHT);
      pen.setLineDash([]);
      const font = written === selected ? `bold ${paper.sans}` : paper.sans;
      pen.font = font;
      write(word, x + (width - pen.measureText(word).width) / 2, y + HEIGHT / 2, font);
    });
    paper.y += LINE / 2;
    const chosen = `“${words[selected]}” (word ${selected + 1})`;
    line("It reads the upper words, and writes the lower ones.");
    line(`The more blue, the more it looked there to write ${chosen}.`);
    if (forced.length) line("Dashed: chosen by the reader.");
    line(tellRates(data, sight));
    line(tellOut(sight.changes));
    paper.y += LINE / 2;
    line(`The likeliest words at place ${selected + 1}:`);
    const size = vocabulary.length;
    const shares = Array.from(softmax(sight.logits.subarray(selected * size, (selected + 1) * size)));
    for (const symbol of strongest(shares, SHOWN)) {
      bar(vocabulary[symbol], shares[symbol], tellShare(shares[symbol]), NAME);
    }
    paper.y += LINE / 2;
  });
