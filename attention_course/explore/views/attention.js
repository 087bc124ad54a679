// Attention as maps and as lines between tokens: of one head or of many layers of them.
//
// The root element carries `explorer`, for tests and for the curious: `weights`, nested arrays (maps, queries, keys) of
// the maps on show, layer by layer; `state`: temperature, layer and head (1, 2, ... or "all"), heads, mask, gold, query;
// and `picture()`, a canvas with what the reader may save.

/** @import { AttentionData, AttentionValues, Render, Row } from "../types" */
/** @import { One } from "./parts/attend.js" */

import { makeAttend, whoMay } from "./parts/attend.js";
import { make } from "./parts/dom.js";
import { clamp, makeLines, number } from "./parts/lines.js";
import { readColours, showFaint } from "./parts/maps.js";
import { FRAMED, makePanels, nameOf, STRUCK } from "./parts/panels.js";
import { drawPicture } from "./parts/picture.js";
import { save } from "./parts/save.js";
import { watchSurroundings } from "./parts/surroundings.js";

const LOWEST = 0.05;
const HIGHEST = 10;

// A label, and its place where another is the same.
/** @type {(labels: string[], i: number) => string} */
const quote = (labels, i) => {
  const isOnly = labels.indexOf(labels[i]) === labels.lastIndexOf(labels[i]);
  return isOnly ? `“${labels[i]}”` : `“${labels[i]}” (${i + 1})`;
};

// The sentence for a screen reader, and for whoever prefers one: where the selected query looks.
/** @type {(data: AttentionData, query: number, row: Row<number>) => string} */
const describe = ({ queries, keys, cut }, query, row) => {
  const best = row.map((weight, key) => ({ weight, key })).filter(({ weight }) => weight >= 0.0005);
  best.sort((a, b) => b.weight - a.weight);
  const label = quote(queries, query);
  if (!best.length) return `${label} ${cut ? "attends to no key that is shown" : "may attend to nothing: every weight is 0"}.`;
  const told = best.slice(0, 3).map(({ weight, key }) => `${quote(keys, key)} ${number(weight)}`);
  return `${label} attends to ${told.join(", ")}`;
};

/** @type {Render<AttentionValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const attend = makeAttend(data);
  const { layers } = data.models[0];
  const root = make(el, "div", "course-explorer-view");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);

  const colour = () => {
    const page = readColours(root);
    return model.get("faint") ? { ...page, ramp: showFaint(page.ramp) } : page;
  };
  let colours = colour();
  let { query } = data;
  let active = 0; // which of the maps on show the lines belong to
  let sentence = 0; // the timer of the one to be said
  let made = ""; // the maps that are laid out

  const choose = (/** @type {number} */ layer, /** @type {number} */ head) => {
    model.set("layer", layer);
    model.set("head", head);
    model.save_changes();
  };
  const select = (/** @type {number} */ i, index = active) => {
    if (i === query && index === active) return;
    [query, active] = [i, index];
    draw();
  };
  const maps = makePanels(root, data, select, ({ layer, head }) => choose(layer + 1, head + 1));
  const lines = makeLines(root, data, select);
  const legend = make(root, "p", "course-explorer-legend");
  const said = make(root, "p", "course-explorer-said");
  said.setAttribute("aria-live", "polite");
  make(legend, "span", "", "0");
  make(legend, "span", "course-explorer-ramp");
  make(legend, "span", "", "1");
  const notes = make(legend, "span");
  const back = make(legend, "button", "course-explorer-back", "All layers and heads");
  const keep = make(legend, "button", "course-explorer-save", "Save as PNG");
  [back.type, keep.type] = ["button", "button"];
  back.addEventListener("click", () => choose(0, 0));

  const shown = () => {
    const current = data.models[model.get("heads") || 0];
    /** @type {(choice: number, count: number) => number[]} */
    const which = (choice, count) => (choice ? [choice - 1] : Array.from({ length: count }, (_, i) => i)); // 0 is all
    const [layer, head] = [model.get("layer") || 0, model.get("head") || 0];
    const heads = which(head, current.heads);
    const ones = which(layer, layers).flatMap((layer) => heads.map((head) => ({ layer, head })));
    return { current, ones, grid: layers > 1 && !layer && !head && current.heads > 1 };
  };

  const layout = () => {
    const { ones, grid } = shown();
    made = JSON.stringify(ones);
    active = Math.min(active, ones.length - 1);
    lines.box.hidden = grid;
    back.hidden = grid || layers === 1;
    maps.layout(ones, grid, colours);
    if (!grid) lines.measure();
    draw();
  };

  const draw = () => {
    const { current, ones, grid } = shown();
    if (JSON.stringify(ones) !== made) return layout();
    const temperature = clamp(model.get("temperature"), LOWEST, HIGHEST);
    const mask = data.masks[model.get("mask")];
    const gold = model.get("gold") ? data.gold : null;
    const allowed = whoMay(data, mask);
    const weights = ones.map((one) => attend[model.get("heads") || 0](one, allowed, temperature));
    const sight = { allowed, gold, query, colours };
    const lit = grid ? null : active;
    maps.draw(weights, sight, lit);
    if (!grid) lines.draw(weights[active], query, allowed[query], gold?.[query], colours);
    const { cell } = maps.panels()[0].at;
    const framed = gold && (!grid || cell > FRAMED); // beside a map that is no grid, the numbers are framed too
    const struck = mask !== "none" && cell > STRUCK;
    notes.textContent = [current.note, model.get("faint") && "middle: 0.25", framed && (data.frames?.note ?? "frames: gold"), struck && "strokes: masked"].filter(Boolean).join(" · ");
    tell(ones, grid, weights);

    const numbered = (/** @type {"layer" | "head"} */ name) => (new Set(ones.map((one) => one[name])).size === 1 ? ones[0][name] + 1 : "all");
    const state = { temperature, layer: numbered("layer"), head: numbered("head"), heads: current.heads, mask, gold: Boolean(gold), faint: Boolean(model.get("faint")), query };
    root.explorer = { weights, state, picture: () => drawPicture(maps.box, data, maps.panels(), weights, sight, lit) };
  };

  // One sentence for a whole drag of a slider.
  /** @type {(ones: One[], grid: boolean, weights: number[][][]) => void} */
  const tell = (ones, grid, weights) => {
    clearTimeout(sentence);
    const which = ones.length > 1 ? `${nameOf(data, ones[active])}: ` : "";
    const told = grid
      ? `${layers} layers, from top to bottom, with ${ones.length / layers} heads each. In each map rows are queries and columns are keys. Choose a map, or a layer and a head, to see it large.`
      : which.charAt(0).toUpperCase() + which.slice(1) + describe(data, query, weights[active][query]);
    sentence = setTimeout(() => (said.textContent = told), 200);
  };

  keep.addEventListener("click", () => {
    const { ones } = shown();
    const name = ["attention", ones.length === 1 && nameOf(data, ones[0]).replace(/\W+/g, "-")].filter(Boolean).join("-");
    root.explorer.picture().toBlob((/** @type {Blob | null} */ blob) => {
      if (blob) save(blob, `${name}.png`);
      else said.textContent = "This browser could not make the picture.";
    });
  });

  const recolour = () => {
    colours = colour();
    draw();
  };
  const unwatch = watchSurroundings(root, recolour, () => {
    colours = colour();
    layout();
  });
  const names = ["temperature", "layer", "head", "heads", "mask", "gold"].map((name) => `change:${name}`);
  names.forEach((name) => model.on(name, draw));
  model.on("change:faint", recolour);
  layout();
  return () => {
    names.forEach((name) => model.off(name, draw));
    model.off("change:faint", recolour);
    clearTimeout(sentence);
    unwatch();
  };
};

export default { render };
