// The maps of the weights, of one head or of many.

/** @import { Looks } from "../../types" */
import { make } from "../parts/dom.js";
import { drawCells, drawForbidden, drawGrid, drawLabels, measureMap, penOf, readColours, resize } from "../parts/maps.js";
import { makeMenu } from "./controls.js";
import { range } from "./numbers.js";

const FEW = 12; // rows: those of many small maps can be labelled too

/** @typedef {{ block: number, head: number, weights: number[][] }} Shown */

// Which block and head are on show is kept in `chosen`, counted from 1; 0 is all of them.
/** @type {(parent: Element, sizes: { blocks: number, heads: number }, select: (query: number) => void, change: () => void, chosen: { block: number, head: number }) => { draw: (looks: Looks, selected: number) => Shown[], recolour: () => void }} */
export const makeHeads = (parent, { blocks, heads }, select, change, chosen) => {
  const line = make(parent, "div", "course-live-line");
  /** @type {(label: string, name: "block" | "head", count: number) => void} */
  const addMenu = (label, name, count) => {
    const menu = makeMenu(line, label, ["all", ...range(count).map((i) => `${name} ${i + 1}`)], (index) => {
      chosen[name] = index;
      change();
    });
    menu.selectedIndex = chosen[name];
  };
  addMenu("block", "block", blocks);
  addMenu("head", "head", heads);
  const maps = make(parent, "div", "course-explorer-maps");
  const said = make(parent, "p", "course-live-note");
  const pixels = document.createElement("canvas");
  let colours = readColours(parent);
  /** @type {HTMLCanvasElement[]} */
  let canvases = [];
  let size = { cell: 1, top: 0 };

  const toShow = () => {
    /** @type {(index: number, count: number) => number[]} */
    const which = (index, count) => (index ? [index - 1] : range(count));
    return which(chosen.block, blocks).flatMap((b) => which(chosen.head, heads).map((h) => ({ block: b, head: h })));
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
      canvas.addEventListener("click", (event) => {
        const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top - size.top) / size.cell);
        if (row >= 0) select(row);
      });
      return canvas;
    });
  };

  /** @type {(looks: Looks, selected: number) => Shown[]} */
  const draw = ({ queries, keys, weights: all, masked, legend, isOff, unit = "word" }, selected) => {
    const shown = toShow();
    layout(shown);
    const allowed = queries.map((_, i) => keys.map((_, j) => !masked || j <= i));
    const labelled = shown.length === 1 || queries.length <= FEW;
    const at = measureMap({ queries, keys }, canvases[0].parentElement?.clientWidth || 300, labelled, colours.font);
    size = at;
    const tell = (/** @type {number[][]} */ weights) => describe(queries, keys, weights[selected], selected, unit);
    const result = shown.map((one, index) => {
      const weights = all[one.block][one.head].map((row) => keys.map((_, j) => row[j] ?? 0));
      const canvas = canvases[index];
      resize(canvas, at.width, at.height);
      const pen = penOf(canvas);
      if (at.labelled) drawLabels(pen, { queries, keys }, at, colours, selected);
      drawCells(pen, at, weights, colours.ramp, pixels);
      if (at.cell > 6) drawGrid(pen, at, colours);
      if (at.cell > 3) drawForbidden(pen, at, allowed, colours);
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
  const best = Array.from(row.keys()).sort((a, b) => row[b] - row[a]).slice(0, 3);
  const told = best.map((key) => `“${keys[key]}” (${unit} ${key + 1}) ${row[key].toFixed(2)}`);
  return `“${queries[selected]}” (${unit} ${selected + 1}) looks at ${told.join(", ")}.`;
};
