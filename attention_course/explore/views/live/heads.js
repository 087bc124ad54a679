// The maps of the weights, of one head or of many.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { drawCells, drawForbidden, drawGrid, drawLabels, measureMap, penOf, readColours, resize } from "../parts/maps.js";
import { visible } from "./text.js";

/** @typedef {{ block: number, head: number, weights: number[][] }} Shown */

/** @type {(parent: Element, label: string, options: string[], start: number, change: () => void) => HTMLSelectElement} */
const makeChoice = (parent, label, options, start, change) => {
  const choice = make(make(parent, "label", "", `${label} `), "select");
  options.forEach((text, index) => choice.add(new Option(text, String(index))));
  choice.value = String(start);
  choice.addEventListener("change", change);
  return choice;
};

/** @type {(parent: Element, data: ModelData, select: (token: number) => void, change: () => void) => { draw: (sight: Sight, selected: number) => Shown[], recolour: () => void }} */
export const makeHeads = (parent, data, select, change) => {
  const { blocks, heads } = data.sizes;
  const line = make(parent, "div", "course-live-line");
  /** @type {(name: string, count: number) => string[]} */
  const named = (name, count) => ["all", ...Array.from({ length: count }, (_, i) => `${name} ${i + 1}`)];
  const block = makeChoice(line, "weights of", named("block", blocks), blocks, change);
  const head = makeChoice(line, "head", named("head", heads), 0, change);
  const maps = make(parent, "div", "course-explorer-maps");
  const said = make(parent, "p", "course-live-note");
  const pixels = document.createElement("canvas");
  let colours = readColours(parent);
  /** @type {HTMLCanvasElement[]} */
  let canvases = [];
  let size = { cell: 1, top: 0 };

  const chosen = () => {
    /** @type {(choice: HTMLSelectElement, count: number) => number[]} */
    const which = (choice, count) =>
      Number(choice.value) ? [Number(choice.value) - 1] : Array.from({ length: count }, (_, i) => i);
    return which(block, blocks).flatMap((b) => which(head, heads).map((h) => ({ block: b, head: h })));
  };
  let made = "";
  const layout = (/** @type {{ block: number, head: number }[]} */ shown) => {
    const asked = JSON.stringify(shown);
    if (asked === made) return;
    made = asked;
    maps.textContent = "";
    maps.classList.toggle("course-explorer-many", shown.length > 1);
    canvases = shown.map((one) => {
      const figure = make(maps, "figure");
      make(figure, "figcaption", "", `block ${one.block + 1}, head ${one.head + 1}`);
      const canvas = make(figure, "canvas");
      canvas.setAttribute("role", "img");
      canvas.addEventListener("pointerdown", (event) => {
        const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top - size.top) / size.cell);
        if (row >= 0) select(row);
      });
      return canvas;
    });
  };

  /** @type {(sight: Sight, selected: number) => Shown[]} */
  const draw = (sight, selected) => {
    const n = sight.symbols.length;
    const shown = chosen();
    layout(shown);
    const labels = sight.symbols.map((symbol) => visible(data.vocabulary[symbol]));
    const allowed = labels.map((_, i) => labels.map((_, j) => !sight.changes.masked || j <= i));
    const at = measureMap({ queries: labels, keys: labels }, canvases[0].parentElement?.clientWidth || 300, shown.length === 1, colours.font);
    size = at;
    const result = shown.map((one, index) => {
      const rows = sight.weights[one.block][one.head];
      const weights = rows.map((row) => Array.from({ length: n }, (_, j) => row[j] ?? 0));
      const canvas = canvases[index];
      resize(canvas, at.width, at.height);
      const pen = penOf(canvas);
      if (at.labelled) drawLabels(pen, { queries: labels, keys: labels }, at, colours, selected);
      drawCells(pen, at, weights, colours.ramp, pixels);
      if (at.cell > 6) drawGrid(pen, at, colours);
      if (at.cell > 3) drawForbidden(pen, at, allowed, colours);
      [pen.strokeStyle, pen.lineWidth] = [colours.ink, 1];
      pen.strokeRect(at.left, at.top + selected * at.cell, at.right - at.left, at.cell);
      const off = sight.changes.heads[one.block].includes(one.head) || sight.changes.blocks.includes(one.block);
      canvas.setAttribute(
        "aria-label",
        `Block ${one.block + 1}, head ${one.head + 1}${off ? ", switched off" : ""}: ${describe(labels, weights[selected], selected)}`,
      );
      canvas.classList.toggle("course-live-off", off);
      return { ...one, weights };
    });
    said.textContent = result.length === 1 ? describe(labels, result[0].weights[selected], selected) : "Rows are queries, columns keys; the followed token's row is framed.";
    return result;
  };
  return { draw, recolour: () => (colours = readColours(parent)) };
};

/** @type {(labels: string[], row: number[], selected: number) => string} */
const describe = (labels, row, selected) => {
  const best = Array.from(row.keys()).sort((a, b) => row[b] - row[a]).slice(0, 3);
  const told = best.map((key) => `“${labels[key]}” (token ${key + 1}) ${row[key].toFixed(2)}`);
  return `“${labels[selected]}” (token ${selected + 1}) attends to ${told.join(", ")}.`;
};
