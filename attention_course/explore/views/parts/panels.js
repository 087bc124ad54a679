// The maps on show: a few side by side, or all layers and heads as small ones, in a grid that opens one at a click.

/** @import { AttentionData, Grid } from "../../types" */
/** @import { One } from "./attend.js" */
/** @import { Colours, Pen, Place } from "./maps.js" */
import { make } from "./dom.js";
import { drawCells, drawForbidden, drawGrid, drawLabels, BESIDE, measureMany, measureMap, penOf, resize } from "./maps.js";

/** @typedef {One & { figure: HTMLElement, canvas: HTMLCanvasElement, at: Place }} Panel */
/** @typedef {{ allowed: Grid<boolean>, gold: Grid<boolean> | null, query: number, colours: Colours }} Sight */

/** @type {(data: AttentionData, one: One) => string} */
export const nameOf = ({ models }, { layer, head }) => {
  const names = models[0].layers > 1 ? [`layer ${layer + 1}`] : [];
  if (models.length > 1 || models[0].heads > 1) names.push(`head ${head + 1}`);
  return names.join(", ");
};

/** @type {(pen: Pen, at: Place, gold: Grid<boolean>, dashed: Grid<boolean> | undefined, colours: Colours) => void} */
const drawGold = (pen, at, gold, dashed, colours) => {
  const [inset, wide] = at.cell < 16 ? [1, 1.5] : [2, 2]; // in a small cell a frame leaves room for its colour
  const side = at.cell - 2 * inset;
  const frames = (/** @type {string} */ colour, /** @type {number} */ width, /** @type {number[]} */ dashes) => {
    [pen.strokeStyle, pen.lineWidth] = [colour, width];
    gold.forEach((row, i) =>
      row.forEach((right, j) => {
        if (!right) return;
        pen.setLineDash(dashed?.[i][j] ? dashes : []);
        pen.strokeRect(at.left + j * at.cell + inset, at.top + i * at.cell + inset, side, side);
      }),
    );
    pen.setLineDash([]);
  };
  frames(colours.low, wide + inset, []); // a halo, so that a frame shows on dark cells too
  frames(colours.gold, wide, [side / 4, side / 4]);
};

// In cells as small as these nothing is framed, or struck out.
export const [FRAMED, STRUCK] = [6, 3];

const pixels = document.createElement("canvas");

// One map, with the chosen query's row framed; in a grid of small ones, where none is chosen, the map itself.
/** @type {(pen: Pen, data: AttentionData, at: Place, weights: Grid<number>, sight: Sight, lit: boolean | null) => void} */
export const drawMap = (pen, data, at, weights, { allowed, gold, query, colours }, lit) => {
  if (at.labelled) drawLabels(pen, data, at, colours, lit === null ? -1 : query);
  drawCells(pen, at, weights, colours.ramp, pixels);
  if (at.cell > FRAMED) drawGrid(pen, at, colours);
  if (at.cell > STRUCK) drawForbidden(pen, at, allowed, colours);
  if (gold && at.cell > FRAMED) drawGold(pen, at, gold, data.frames?.dashed, colours);
  [pen.strokeStyle, pen.lineWidth] = lit === null ? [colours.quiet, 1] : [colours.ink, lit ? 2 : 1];
  const [row, height] = lit === null ? [0, at.bottom - at.top] : [query * at.cell, at.cell];
  pen.strokeRect(at.left, at.top + row, at.right - at.left, height);
};

/**
 * @param {Element} parent
 * @param {AttentionData} data
 * @param {(query: number, index: number) => void} select
 * @param {(one: One) => void} open
 */
export const makePanels = (parent, data, select, open) => {
  const box = make(parent, "div", "course-explorer-maps");
  /** @type {Panel[]} */
  let panels = [];
  const unknown = measureMap(data, 1, false, ""); // a panel's place until all of them stand on the page

  /** @type {(one: One, index: number, small: boolean) => Panel} */
  const makePanel = (one, index, small) => {
    const figure = make(box, "figure");
    const name = nameOf(data, one);
    if (name && !small) make(figure, "figcaption", "", name);
    const canvas = make(figure, "canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Attention weights of ${name || "head 1"}: rows are queries, columns are keys`);
    const point = (/** @type {PointerEvent} */ event) => {
      const { at } = panels[index];
      const i = Math.floor((event.clientY - canvas.getBoundingClientRect().top - at.top) / at.cell);
      if (i >= 0 && i < data.queries.length) select(i, index);
    };
    if (small) {
      canvas.title = name;
      canvas.addEventListener("click", () => open(one));
    } else {
      canvas.addEventListener("pointermove", point);
      canvas.addEventListener("pointerdown", point);
    }
    return { ...one, figure, canvas, at: unknown };
  };

  // Numbers of the heads above the grid, and of the layers beside it.
  /** @type {(ones: One[]) => void} */
  const makeGrid = (ones) => {
    const heads = ones.filter(({ layer }) => layer === 0).length;
    box.style.setProperty("--columns", String(heads));
    make(box, "span", "course-explorer-axis");
    for (let head = 1; head <= heads; head++) make(box, "span", "course-explorer-axis", String(head));
    panels = ones.map((one, index) => {
      if (one.head === 0) make(box, "span", "course-explorer-axis", String(one.layer + 1));
      return makePanel(one, index, true);
    });
  };

  return {
    box,
    panels: () => panels,
    // Builds a canvas for every head on show, as large as the page allows.
    layout: (/** @type {One[]} */ ones, /** @type {boolean} */ grid, /** @type {Colours} */ colours) => {
      box.textContent = "";
      const many = ones.length > 1 && !grid;
      box.classList.toggle("course-explorer-many", many);
      box.classList.toggle("course-explorer-grid", grid);
      const places = many ? measureMany(data, box.clientWidth || 300, ones.length, colours.font) : null;
      box.style.columnGap = places ? `${BESIDE}px` : "";
      box.style.gridTemplateColumns = places?.map(({ width }) => `${width}px`).join(" ") ?? "";
      if (grid) makeGrid(ones);
      else panels = ones.map((one, index) => makePanel(one, index, false));
      const widths = panels.map(({ figure }) => figure.clientWidth || 300);
      panels.forEach((panel, index) => {
        panel.at = places?.[index % places.length] ?? measureMap(data, widths[index], ones.length === 1, colours.font);
        resize(panel.canvas, panel.at.width, panel.at.height);
      });
    },
    draw: (/** @type {number[][][]} */ weights, /** @type {Sight} */ sight, /** @type {number | null} */ active) =>
      panels.forEach(({ canvas, at }, index) => {
        const pen = penOf(canvas);
        pen.clearRect(0, 0, at.width, at.height);
        drawMap(pen, data, at, weights[index], sight, active === null ? null : index === active);
      }),
  };
};
