// Attention as maps and as lines between tokens. Weights are made here, from raw scores, so a slider needs no kernel.
//
// The root element carries `explorer`, for tests and for the curious: `weights`, nested arrays (heads, queries,
// keys) of the heads on show, and `state`: temperature, head (1, 2, ... or "all"), heads, mask, gold, query.

/** @import { AttentionData, AttentionValues, Grid, Mask, Packed, Render, Row, Scores } from "../types" */
/** @import { Colours, Pen, Place } from "./parts/maps.js" */
/** @typedef {{ head: number, figure: HTMLElement, canvas: HTMLCanvasElement, at: Place }} Panel */

import { make } from "./parts/dom.js";
import { drawCells, drawForbidden, drawGrid, drawLabels, measureMap, penOf, readColours, resize } from "./parts/maps.js";

const LOWEST = 0.05;
const HIGHEST = 10;
const WEB = 64; // width of the space that lines cross

// Scores travel as the bytes of their numbers, in base64: exact, and half the size of their digits.
/** @type {(packed: Packed) => Scores} */
const unpack = ({ bytes, dtype }) => {
  const buffer = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0)).buffer;
  return dtype === "float32" ? new Float32Array(buffer) : new Float64Array(buffer);
};

// Whether a query may attend to a key. Diagonals are aligned to the bottom right: the last query sees the last key.
/** @type {(data: AttentionData) => Record<Mask, (query: number, key: number) => boolean>} */
const rules = (data) => {
  /** @type {(query: number, key: number) => number} */
  const distance = (query, key) => query + data.keys.length - data.queries.length - key;
  return {
    none: () => true,
    causal: (query, key) => distance(query, key) >= 0,
    padding: (query, key) => key < data.length,
    "sliding window": (query, key) => Math.abs(distance(query, key)) <= data.window,
  };
};

// Softmax of one row of scores over the allowed keys; a query that may attend to nothing gets zeros.
/** @type {(scores: Scores, start: number, allowed: Row<boolean>, temperature: number) => number[]} */
const softmax = (scores, start, allowed, temperature) => {
  let largest = -Infinity;
  allowed.forEach((may, key) => {
    if (may && scores[start + key] > largest) largest = scores[start + key];
  });
  const weights = allowed.map((may, key) => (may ? Math.exp((scores[start + key] - largest) / temperature) : 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return sum ? weights.map((weight) => weight / sum) : weights;
};

/** @type {(value: number, low: number, high: number) => number} */
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** @type {(pen: Pen, at: Place, gold: Grid<boolean>, colours: Colours) => void} */
const drawGold = (pen, at, gold, colours) => {
  const frames = (/** @type {string} */ colour, /** @type {number} */ width) => {
    [pen.strokeStyle, pen.lineWidth] = [colour, width];
    gold.forEach((row, i) =>
      row.forEach((right, j) => {
        if (right) pen.strokeRect(at.left + j * at.cell + 2, at.top + i * at.cell + 2, at.cell - 4, at.cell - 4);
      }),
    );
  };
  frames(colours.low, 4); // a halo, so that a frame shows on dark cells too
  frames(colours.gold, 2);
};

const number = (/** @type {number} */ weight) => weight.toFixed(3);

// The sentence for a screen reader, and for whoever prefers one: where the selected query looks.
/** @type {(label: string, row: Row<number>, keys: string[]) => string} */
const describe = (label, row, keys) => {
  const best = row.map((weight, key) => ({ weight, token: keys[key] })).filter(({ weight }) => weight >= 0.0005);
  best.sort((a, b) => b.weight - a.weight);
  if (!best.length) return `“${label}” may attend to nothing: every weight is 0.`;
  const told = best.slice(0, 3).map(({ weight, token }) => `“${token}” ${number(weight)}`);
  return `“${label}” attends to ${told.join(", ")}`;
};

/** @type {Render<AttentionValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const models = data.models.map((one) => ({ ...one, scores: unpack(one.scores) }));
  const may = rules(data);
  const root = make(el, "div", "course-explorer-view");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  const maps = make(root, "div", "course-explorer-maps");
  const lines = make(root, "div", "course-explorer-lines");
  make(lines, "span", "course-explorer-head", "query");
  make(lines, "span");
  make(lines, "span", "course-explorer-head", "weight on each key");
  const queries = make(lines, "div", "course-explorer-queries");
  queries.setAttribute("role", "group");
  queries.setAttribute("aria-label", "queries");
  const web = make(lines, "canvas");
  web.setAttribute("aria-hidden", "true");
  const row = make(lines, "ol", "course-explorer-row");
  row.setAttribute("aria-label", "weights on the keys");
  const legend = make(root, "p", "course-explorer-legend");
  const said = make(root, "p", "course-explorer-said");
  said.setAttribute("aria-live", "polite");

  const buttons = data.queries.map((token) => make(queries, "button", "", token));
  buttons.forEach((button) => (button.type = "button"));
  const items = data.keys.map((token) => {
    const item = make(row, "li");
    make(item, "span", "", token);
    make(item, "b");
    return item;
  });
  make(legend, "span", "", "0");
  make(legend, "span", "course-explorer-ramp");
  make(legend, "span", "", "1");
  const notes = make(legend, "span");

  const pixels = document.createElement("canvas");
  let colours = readColours(root);
  let { query } = data;
  let active = 0; // which of the maps on show the lines belong to
  /** @type {Panel[]} */
  let panels = [];
  /** @type {number[][]} */
  let ends = []; // heights at which lines leave queries and reach keys
  let sentence = 0; // the timer of the one to be said

  const shown = () => {
    const current = models[model.get("heads") || 0];
    const choice = model.get("head") || 0; // 0 is all of them
    const heads = choice ? [choice - 1] : Array.from({ length: current.heads }, (_, head) => head);
    return { current, heads };
  };

  /** @type {(what: ReturnType<typeof shown>, allowed: Grid<boolean>, temperature: number) => number[][][]} */
  const attend = ({ current, heads }, allowed, temperature) => {
    const [n, m] = [data.queries.length, data.keys.length];
    return heads.map((head) => allowed.map((keys, i) => softmax(current.scores, (head * n + i) * m, keys, temperature)));
  };

  // Builds a canvas for every head on show, as large as the page allows.
  const layout = () => {
    const { heads } = shown();
    maps.textContent = "";
    active = Math.min(active, heads.length - 1);
    maps.classList.toggle("course-explorer-many", heads.length > 1);
    const made = heads.map((head, index) => {
      const figure = make(maps, "figure");
      if (models.length > 1 || models[0].heads > 1) make(figure, "figcaption", "", `head ${head + 1}`);
      const canvas = make(figure, "canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `Attention weights of head ${head + 1}: rows are queries, columns are keys`);
      const point = (/** @type {PointerEvent} */ event) => {
        const at = panels[index].at;
        const i = Math.floor((event.clientY - canvas.getBoundingClientRect().top - at.top) / at.cell);
        if (i >= 0 && i < data.queries.length) select(i, index);
      };
      canvas.addEventListener("pointermove", point);
      canvas.addEventListener("pointerdown", point);
      return { head, figure, canvas };
    });
    panels = made.map((panel) => {
      const at = measureMap(data, panel.figure.clientWidth || 300, heads.length === 1, colours.font);
      resize(panel.canvas, at.width, at.height);
      return { ...panel, at };
    });
    const middle = (/** @type {HTMLElement} */ element) => element.offsetTop - web.offsetTop + element.offsetHeight / 2;
    ends = [buttons.map(middle), items.map(middle)];
    resize(web, WEB, Math.max(queries.offsetHeight, row.offsetHeight));
    draw();
  };

  /**
   * @param {Panel} panel
   * @param {Grid<number>} weights
   * @param {Grid<boolean>} allowed
   * @param {Grid<boolean> | null} gold
   * @param {boolean} lit
   */
  const drawMap = (panel, weights, allowed, gold, lit) => {
    const pen = penOf(panel.canvas);
    const { at } = panel;
    pen.clearRect(0, 0, at.width, at.height);
    if (at.labelled) drawLabels(pen, data, at, colours, lit ? query : -1);
    drawCells(pen, at, weights, colours.ramp, pixels);
    if (at.cell > 6) drawGrid(pen, at, colours);
    if (at.cell > 3) drawForbidden(pen, at, allowed, colours);
    if (gold && at.cell > 6) drawGold(pen, at, gold, colours);
    [pen.strokeStyle, pen.lineWidth] = [colours.ink, lit ? 2 : 1];
    pen.strokeRect(at.left, at.top + query * at.cell, at.right - at.left, at.cell);
  };

  const drawLines = (/** @type {Grid<number>} */ weights) => {
    const pen = penOf(web);
    pen.clearRect(0, 0, web.width, web.height);
    const few = weights.length * weights[0].length <= 400;
    /** @type {(i: number, j: number, weight: number, alpha: number) => void} */
    const line = (i, j, weight, alpha) => {
      pen.globalAlpha = alpha;
      pen.lineWidth = 0.5 + 6 * weight;
      pen.beginPath();
      pen.moveTo(0, ends[0][i]);
      pen.bezierCurveTo(WEB / 2, ends[0][i], WEB / 2, ends[1][j], WEB, ends[1][j]);
      pen.stroke();
    };
    /** @type {(i: number, strength: (weight: number) => number) => void} */
    const all = (i, strength) => weights[i].forEach((weight, j) => weight > 0.005 && line(i, j, weight, strength(weight)));
    pen.strokeStyle = colours.quiet;
    if (few) weights.forEach((_, i) => i !== query && all(i, (weight) => 0.25 * weight));
    pen.strokeStyle = colours.line;
    all(query, (weight) => 0.3 + 0.7 * weight);
    pen.globalAlpha = 1;
  };

  const draw = () => {
    const what = shown();
    if (what.heads.join() !== panels.map((panel) => panel.head).join()) return layout();
    const temperature = clamp(model.get("temperature"), LOWEST, HIGHEST);
    const mask = data.masks[model.get("mask")];
    const gold = model.get("gold") ? data.gold : null;
    const allowed = data.queries.map((_, i) => data.keys.map((_, j) => may[mask](i, j)));
    const weights = attend(what, allowed, temperature);
    panels.forEach((panel, index) => drawMap(panel, weights[index], allowed, gold, index === active));
    drawLines(weights[active]);

    const chosen = weights[active][query];
    items.forEach((item, key) => {
      item.children[1].textContent = allowed[query][key] ? number(chosen[key]) : "masked 0.000";
      item.classList.toggle("course-explorer-gold", Boolean(gold?.[query][key]));
      item.style.setProperty("--weight", String(chosen[key]));
    });
    buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === query));
      button.tabIndex = i === query ? 0 : -1;
    });
    notes.textContent = [what.current.note, gold && "frames: gold", mask !== "none" && "strokes: masked"].filter(Boolean).join(" · ");
    clearTimeout(sentence); // one sentence for a whole drag of a slider
    const which = panels.length > 1 ? `Head ${what.heads[active] + 1}: ` : "";
    sentence = setTimeout(() => (said.textContent = which + describe(data.queries[query], chosen, data.keys)), 200);
    const head = panels.length === 1 ? what.heads[0] + 1 : "all";
    const state = { temperature, head, heads: what.current.heads, mask, gold: Boolean(gold), query };
    root.explorer = { weights, state };
  };

  /** @type {(i: number, index?: number) => void} */
  const select = (i, index = active) => {
    if (i === query && index === active) return;
    [query, active] = [i, index];
    draw();
  };

  buttons.forEach((button, i) => {
    button.addEventListener("focus", () => select(i));
    button.addEventListener("pointerenter", () => select(i));
    button.addEventListener("click", () => select(i));
  });
  queries.addEventListener("keydown", (event) => {
    const last = buttons.length - 1;
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: query + 1, ArrowUp: query - 1, Home: 0, End: last };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons[clamp(next, 0, last)].focus();
  });

  const recolour = () => {
    colours = readColours(root);
    draw();
  };
  // Pages and Jupyter switch between light and dark by an attribute.
  const theme = new MutationObserver(recolour);
  for (const element of [document.documentElement, document.body]) theme.observe(element, { attributes: true });
  let width = 0;
  const fit = () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    colours = readColours(root);
    layout();
  };
  // In the next frame: a layout inside the observer changes what it observes, which Firefox calls an error.
  const size = new ResizeObserver(() => requestAnimationFrame(fit));
  size.observe(root);
  const names = ["temperature", "head", "heads", "mask", "gold"].map((name) => `change:${name}`);
  names.forEach((name) => model.on(name, draw));
  layout();
  return () => {
    names.forEach((name) => model.off(name, draw));
    clearTimeout(sentence);
    theme.disconnect();
    size.disconnect();
  };
};

export default { render };
