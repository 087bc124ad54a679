// Attention weights as a map: a canvas, its labels and its cells, in the colours of the page.

/** @import { Grid } from "../../types" */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {ReturnType<typeof readColours>} Colours */
/** @typedef {ReturnType<typeof measureMap>} Place */
/** @typedef {{ queries: string[], keys: string[] }} Labels */

const LARGEST_CELL = 40;
const LABELLED_CELL = 12; // in smaller cells a token cannot be read
const SMALL_CELL = 11; // where several maps share the names of their rows, each of which stands in a line of its own
const LARGEST_SMALL = 24;
export const BESIDE = 8; // between maps side by side
const FONT = 12;

/** @type {(canvas: HTMLCanvasElement) => Pen} */
export const penOf = (canvas) => /** @type {Pen} */ (canvas.getContext("2d"));

// A canvas of `width` by `height` CSS pixels, sharp on every screen.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => void} */
export const resize = (canvas, width, height) => {
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  penOf(canvas).setTransform(ratio, 0, 0, ratio, 0, 0);
};

// The colours of the page, and 256 steps from weight 0 over the middle to weight 1.
export const readColours = (/** @type {Element} */ element) => {
  const style = getComputedStyle(element);
  const pen = penOf(document.createElement("canvas"));
  const named = (/** @type {string} */ name) => {
    pen.fillStyle = style.getPropertyValue(`--explorer-${name}`).trim();
    return String(pen.fillStyle); // as #rrggbb, however the page wrote it
  };
  const stops = ["low", "middle", "high"].map((name) =>
    Array.from(named(name).matchAll(/\w\w/g), ([part]) => parseInt(part, 16)),
  );
  const ramp = Array.from({ length: 256 }, (_, step) => {
    const [from, to] = step < 128 ? [stops[0], stops[1]] : [stops[1], stops[2]];
    return from.map((part, i) => part + (to[i] - part) * ((step % 128) / 127));
  });
  return { ramp, ink: named("ink"), quiet: named("quiet"), gold: named("gold"), low: named("low"), line: named("middle"),
    font: `${FONT}px ${style.fontFamily}` };
};

// The steps for weights that are mostly weak: by the square root, so that 0.01 has the colour that 0.1 has else.
export const showFaint = (/** @type {number[][]} */ ramp) =>
  Array.from({ length: 4096 }, (_, step) => ramp[Math.round(Math.sqrt(step / 4095) * (ramp.length - 1))]);

// The room that the longest of some labels takes.
/** @type {(labels: string[], font: string) => number} */
const longest = (labels, font) => {
  const pen = penOf(document.createElement("canvas"));
  pen.font = font;
  return Math.min(90, Math.max(...labels.map((label) => pen.measureText(label).width)));
};

// A map's geometry: the size of a cell, and the room its labels need at the left and above.
/** @type {(data: Labels, cell: number, left: number, labelled: boolean, font: string) => { left: number, top: number, cell: number, upright: boolean, labelled: boolean, right: number, bottom: number, width: number, height: number }} */
const placeMap = (data, cell, left, labelled, font) => {
  const names = labelled ? longest(data.keys, font) : 0;
  const upright = names > cell - 4;
  const top = labelled ? (upright ? names : FONT) + 8 : 1;
  const [right, bottom] = [left + cell * data.keys.length, top + cell * data.queries.length];
  return { left, top, cell, upright, labelled, right, bottom, width: right + 2, height: bottom + 2 };
};

/**
 * @param {Labels} data
 * @param {number} width
 * @param {boolean} labelled
 * @param {string} font
 */
export const measureMap = (data, width, labelled, font) => {
  const fit = (/** @type {number} */ left) => Math.min(LARGEST_CELL, (width - left - 2) / data.keys.length);
  const room = labelled ? longest(data.queries, font) + 8 : 1;
  labelled &&= fit(room) >= LABELLED_CELL;
  const left = labelled ? room : 1;
  return placeMap(data, fit(left), left, labelled, font);
};

// Small maps side by side, in rows as full as can be: the names of queries stand left of the first in each row, those
// of keys above every map. Nothing where two of them with names do not fit.
/** @type {(data: Labels, width: number, count: number, font: string) => Place[] | null} */
export const measureMany = (data, width, count, font) => {
  const room = longest(data.queries, font) + 8;
  const free = width - room + BESIDE;
  const most = Math.floor(free / (data.keys.length * SMALL_CELL + 3 + BESIDE));
  if (most < 2) return null;
  const columns = Math.ceil(count / Math.ceil(count / most));
  const cell = Math.min(LARGEST_SMALL, (free / columns - BESIDE - 3) / data.keys.length);
  return Array.from({ length: columns }, (_, column) => placeMap(data, cell, column ? 1 : room, true, font));
};

/** @type {(pen: Pen, data: Labels, at: Place, colours: Colours, query: number) => void} */
export const drawLabels = (pen, data, at, colours, query) => {
  pen.font = colours.font.replace(`${FONT}px`, `${Math.min(FONT, at.cell)}px`);
  pen.textBaseline = "middle";
  /** @type {(label: string, x: number, y: number, strong: boolean) => void} */
  const write = (label, x, y, strong) => {
    pen.fillStyle = strong ? colours.ink : colours.quiet;
    pen.fillText(label, x, y, 90);
  };
  pen.textAlign = "right";
  if (at.left > 1) data.queries.forEach((label, i) => write(label, at.left - 6, at.top + (i + 0.5) * at.cell, i === query));
  pen.textAlign = at.upright ? "left" : "center";
  data.keys.forEach((label, j) => {
    pen.save();
    pen.translate(at.left + (j + 0.5) * at.cell, at.top - (at.upright ? 6 : FONT / 2 + 4));
    if (at.upright) pen.rotate(-Math.PI / 2);
    write(label, 0, 0, false);
    pen.restore();
  });
};

// What is forbidden is hatched: a weight that must be 0 is not a weight that happens to be.
/** @type {(pen: Pen, at: Place, allowed: Grid<boolean>, colours: Colours) => void} */
export const drawForbidden = (pen, at, allowed, colours) => {
  pen.strokeStyle = colours.quiet;
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1;
  pen.beginPath();
  allowed.forEach((row, i) =>
    row.forEach((may, j) => {
      if (may) return;
      const [x, y, inset] = [at.left + j * at.cell, at.top + i * at.cell, at.cell * 0.3];
      pen.moveTo(x + inset, y + at.cell - inset);
      pen.lineTo(x + at.cell - inset, y + inset);
    }),
  );
  pen.stroke();
  pen.globalAlpha = 1;
};

// Where each token looks at itself.
/** @type {(pen: Pen, at: Place, colours: Colours) => void} */
export const drawDiagonal = (pen, at, colours) => {
  [pen.strokeStyle, pen.lineWidth] = [colours.gold, 1];
  pen.beginPath();
  pen.moveTo(at.left, at.top);
  pen.lineTo(at.right, at.bottom);
  pen.stroke();
};

/** @type {(pen: Pen, at: Place, colours: Colours) => void} */
export const drawGrid = (pen, at, colours) => {
  pen.fillStyle = colours.quiet;
  pen.globalAlpha = 0.25;
  const across = at.right - at.left;
  const down = at.bottom - at.top;
  for (let x = at.left; x <= at.right + 0.5; x += at.cell) pen.fillRect(x - 0.5, at.top, 1, down);
  for (let y = at.top; y <= at.bottom + 0.5; y += at.cell) pen.fillRect(at.left, y - 0.5, across, 1);
  pen.globalAlpha = 1;
};

// One pixel a cell, enlarged without smoothing: thousands of cells at the price of one image. Cells smaller than a
// pixel of the screen are blended, or most would not be seen at all.
/** @type {(pen: Pen, at: Place, weights: Grid<number>, ramp: number[][], pixels: HTMLCanvasElement) => void} */
export const drawCells = (pen, at, weights, ramp, pixels) => {
  const small = penOf(pixels);
  const image = small.createImageData(weights[0].length, weights.length);
  let offset = 0;
  for (const row of weights) {
    for (const weight of row) {
      const colour = ramp[Math.round(weight * (ramp.length - 1))];
      image.data[offset++] = colour[0];
      image.data[offset++] = colour[1];
      image.data[offset++] = colour[2];
      image.data[offset++] = 255;
    }
  }
  [pixels.width, pixels.height] = [image.width, image.height];
  small.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = at.cell * pen.getTransform().a < 1;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(pixels, at.left, at.top, at.right - at.left, at.bottom - at.top);
};
