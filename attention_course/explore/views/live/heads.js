// The maps of the weights, of one head or of many.

/** @import { Looks } from "../../types" */
import { make } from "../parts/dom.js";
import { drawCells, drawDiagonal, drawForbidden, drawGrid, drawLabels, measureMap, penOf, readColours, resize } from "../parts/maps.js";
import { listShown, weightsOf } from "./chooser.js";
import { mostSeen } from "./numbers.js";

const FEW = 12; // rows: those of many small maps can be labelled too

/** @import { Place, Sizes } from "./chooser.js" */
/** @typedef {Place & { weights: number[][] }} Shown */

/** @type {(parent: Element, sizes: Sizes, select: (query: number) => void, chosen: Place) => { draw: (looks: Looks, selected: number) => Shown[], recolour: () => void }} */
export const makeHeads = (parent, sizes, select, chosen) => {
  const maps = make(parent, "div", "course-explorer-maps");
  const said = make(parent, "p", "course-live-note");
  const pixels = document.createElement("canvas");
  let colours = readColours(parent);
  /** @type {HTMLCanvasElement[]} */
  let canvases = [];
  let size = { cell: 1, top: 0, rows: 0 };

  let before = "";
  const layout = (/** @type {Place[]} */ shown) => {
    const asked = JSON.stringify(shown);
    if (asked === before) return;
    before = asked;
    maps.textContent = "";
    maps.classList.toggle("course-explorer-many", shown.length > 1);
    canvases = shown.map((one) => {
      const figure = make(maps, "figure");
      make(figure, "figcaption", "", `block ${one.block + 1}, head ${one.head + 1}`);
      const canvas = make(figure, "canvas");
      canvas.setAttribute("role", "img");
      canvas.addEventListener("click", (event) => {
        const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top - size.top) / size.cell);
        if (row >= 0 && row < size.rows) select(row);
      });
      return canvas;
    });
  };

  /** @type {(looks: Looks, selected: number) => Shown[]} */
  const draw = (looks, selected) => {
    const { queries, keys, masked, legend, isOff, unit = "word", diagonal = false } = looks;
    const shown = listShown(sizes, chosen);
    layout(shown);
    const allowed = queries.map((_, i) => keys.map((_, j) => !masked || j <= i));
    const labelled = shown.length === 1 || queries.length <= FEW;
    const at = measureMap({ queries, keys }, canvases[0].parentElement?.clientWidth || 300, labelled, colours.font);
    size = { ...at, rows: queries.length };
    const tell = (/** @type {number[][]} */ weights) => describe(queries, keys, weights[selected], selected, unit);
    const result = shown.map((one, index) => {
      const weights = weightsOf(looks, one);
      const canvas = canvases[index];
      resize(canvas, at.width, at.height);
      const pen = penOf(canvas);
      if (at.labelled) drawLabels(pen, { queries, keys }, at, colours, selected);
      drawCells(pen, at, weights, colours.ramp, pixels);
      if (at.cell > 6) drawGrid(pen, at, colours);
      if (at.cell > 3) drawForbidden(pen, at, allowed, colours);
      if (diagonal) drawDiagonal(pen, at, colours);
      [pen.strokeStyle, pen.lineWidth] = [colours.ink, 1];
      pen.strokeRect(at.left, at.top + selected * at.cell, at.right - at.left, at.cell);
      const off = isOff(one.block, one.head);
      canvas.setAttribute(
        "aria-label",
        `Block ${one.block + 1}, head ${one.head + 1}${off ? ", switched off" : ""}: ${tell(weights)}`,
      );
      canvas.classList.toggle("course-live-off", off);
      return { ...one, weights };
    });
    said.textContent = result.length === 1 ? tell(result[0].weights) : legend;
    return result;
  };
  return { draw, recolour: () => (colours = readColours(parent)) };
};

/** @type {(queries: string[], keys: string[], row: number[], selected: number, unit: string) => string} */
const describe = (queries, keys, row, selected, unit) => {
  const told = mostSeen(row, 3).map((key) => `“${keys[key]}” (${unit} ${key + 1}) ${row[key].toFixed(2)}`);
  return `“${queries[selected]}” (${unit} ${selected + 1}) looks at ${told.join(", ")}.`;
};
