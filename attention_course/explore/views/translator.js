// A translator that the course trained, at work in the reader's browser on a sentence that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show), `looks`
// (the lines: their mean, a row for each word) and `sight`, what was computed.

/** @import { Looks, Render, TranslationSight, TranslatorData, TranslatorValues } from "../types" */
import { make } from "./parts/dom.js";
import { enable, makeButton } from "./live/controls.js";
import { makeHeads } from "./live/heads.js";
import { makeHost, serve } from "./live/host.js";
import { makeInstead } from "./live/instead.js";
import { makeOmissions, tellRates } from "./live/omissions.js";
import { makeRows, strongest } from "./live/rows.js";
import { makeSentence } from "./live/sentence.js";
import { makeTranslationEngine, noTranslatorChanges } from "./live/translation.js";
import { load, whenSeen } from "./live/weights.js";

const PAUSE = 700; // milliseconds without a key before anything is said
const FROM = "Its query was computed from the word before, the newest that the model had read.";

/** @type {(view: HTMLElement, data: TranslatorData, weights: string) => () => void} */
const start = (view, data, weights) => {
  const root = make(view, "div", "course-live-model");
  const { ask, end } = makeHost(makeTranslationEngine, data.sizes, { weights, shapes: data.shapes });
  const size = data.vocabulary.length;
  const last = data.vocabulary.indexOf(data.end);
  /** @type {number[]} */
  let source = [];
  /** @type {number[]} */
  let written = [];
  /** @type {number[]} */
  let forced = []; // places of words that the reader chose
  let changes = noTranslatorChanges(data.sizes);
  let selected = 0;
  let acts = 0; // of the reader, so far: each ends what is being written
  let writing = false;
  /** @type {TranslationSight | null} */
  let sight = null;
  /** @type {number[][]} */
  let looks = [];
  let fault = ""; // of the sentence that is typed
  let pause = 0; // the timer of what is to be said
  /** @type {string[] | null} */
  let heard = null; // what was to be said last; at first nothing, for nobody has asked

  // What the maps show: rows are words that were written, and the next unless there is none.
  /** @type {(sight: TranslationSight, rows: number) => Looks} */
  const show = ({ source, written, weights, changes: { heads, decoder } }, rows) => ({
    queries: Array.from({ length: rows }, (_, i) => data.vocabulary[written[i]] ?? "…"),
    keys: source.map((symbol) => data.vocabulary[symbol]),
    weights,
    masked: false,
    legend: "Rows are written words, columns those of the sentence; the chosen word's row is framed.",
    isOff: (b, h) => heads[b].includes(h) || decoder.includes(b),
  });
  const isDone = () => written[written.length - 1] === last || written.length >= data.limit;
  const redraw = () => {
    if (!sight) return;
    const rows = sight.logits.length / size;
    selected = Math.min(selected, rows - 1);
    const shown = heads.draw(show(sight, rows), selected);
    looks = shown[0].weights.map((row, i) =>
      row.map((_, j) => shown.reduce((sum, one) => sum + one.weights[i][j], 0) / shown.length),
    );
    drawRows(sight, selected, forced, looks);
    drawInstead(sight, selected);
    cost.textContent = tellRates(data, sight);
    for (const button of [one, all]) enable(button, !isDone());
    for (const button of [back, again]) enable(button, written.length > 0);
    const state = { source, written, forced, selected, changes: sight.changes, writing };
    view.explorer = { state, sight, looks, weights: shown.map(({ weights }) => weights) };
    tell();
  };
  const tell = () => {
    clearTimeout(pause);
    pause = setTimeout(say, PAUSE);
  };
  // Says what has changed since the last time, once the model has written; a fault alone.
  const say = () => {
    if (!sight || writing) return;
    const word = data.vocabulary[written[selected]] ?? "the next word";
    const told = strongest(looks[selected], 3).map(
      (place) => `“${data.vocabulary[source[place]]}” ${looks[selected][place].toFixed(2)}`,
    );
    const now = [
      fault,
      `The translation is “${written.map((symbol) => data.vocabulary[symbol]).join(" ")}”.`,
      `For “${word}” the model looked at ${told.join(", ")}.`,
      tellRates(data, sight),
    ];
    const news = now.filter((one) => one && heard && !heard.includes(one));
    heard = now;
    if (news.length) said.textContent = news.includes(fault) ? fault : news.join(" ");
  };
  const update = async () => {
    const answer = await ask({ source, written, done: isDone(), changes });
    if (answer) sight = answer;
    if (answer) redraw();
    return answer;
  };
  // Writes on; the newest word is chosen, unless one stays.
  /** @type {(count: number, stay?: number) => Promise<void>} */
  const write = async (count, stay) => {
    const mine = ++acts;
    writing = true;
    for (; count > 0 && !isDone(); count--) {
      const answer = await update();
      if (mine !== acts) return;
      if (!answer) break;
      const scores = answer.logits.subarray(-size);
      written = [...written, scores.indexOf(Math.max(...scores))];
      selected = stay ?? written.length - 1;
    }
    writing = false;
    update();
  };
  const keep = (/** @type {number} */ count) => {
    acts++;
    writing = false;
    written = written.slice(0, count);
    forced = forced.filter((place) => place < count);
    selected = Math.max(0, count - 1);
  };
  /** @type {(words: string[], wrong: string) => void} */
  const read = (words, wrong) => {
    fault = wrong;
    tell();
    if (fault) return;
    source = words.map((word) => data.vocabulary.indexOf(word));
    keep(0);
    write(Infinity, 1);
  };
  const force = (/** @type {number} */ symbol) => {
    const place = selected;
    keep(place);
    [written, forced, selected] = [[...written, symbol], [...forced, place], place];
    write(Infinity, place);
  };
  const select = (/** @type {number} */ word) => {
    selected = word;
    redraw();
  };
  const takeBack = (/** @type {number} */ count) => {
    keep(count);
    update();
  };

  const section = (/** @type {string} */ title, open = false) => {
    const box = make(root, "details", "course-live-section");
    make(box, "summary", "", title);
    box.open = open;
    box.addEventListener("toggle", redraw); // what is closed has no width to fill
    return make(box, "div");
  };
  const typed = make(root, "div");
  const drawRows = makeRows(root, data, select);
  const cost = make(root, "p", "course-live-cost");
  const line = make(root, "div", "course-live-line");
  const one = makeButton(line, "Write one word", () => write(1));
  const all = makeButton(line, "Write all", () => write(Infinity));
  const back = makeButton(line, "Take back", () => takeBack(written.length - 1));
  const again = makeButton(line, "Take all back", () => takeBack(0));
  const maps = section("Where it looks: the weights of cross-attention", true);
  make(maps, "p", "", `Each row shows where the model looked to write that word. ${FROM}`);
  const heads = makeHeads(maps, data.sizes, select, redraw);
  const drawInstead = makeInstead(section("What else it could write", true), data, force);
  makeOmissions(section("Take something out of the model"), data, (changed) => {
    acts++;
    writing = false;
    changes = changed;
    update();
  });
  const said = make(root, "p", "course-live-said");
  said.setAttribute("aria-live", "polite");
  makeSentence(typed, data, read);

  const recolour = () => {
    heads.recolour();
    redraw();
  };
  // Pages and Jupyter switch between light and dark by an attribute.
  const theme = new MutationObserver(recolour);
  for (const element of [document.documentElement, document.body]) theme.observe(element, { attributes: true });
  let width = root.clientWidth;
  const fit = () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    redraw();
  };
  const sizes = new ResizeObserver(() => requestAnimationFrame(fit));
  sizes.observe(root);
  return () => {
    acts++;
    clearTimeout(pause);
    theme.disconnect();
    sizes.disconnect();
    end();
    root.remove();
  };
};

/** @type {Render<TranslatorValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const root = make(el, "div", "course-explorer-view course-live");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  root.setAttribute("aria-busy", "true");
  const progress = make(root, "p", "course-live-note", "The model loads when you come here.");
  let stop = () => {};
  const away = whenSeen(root, async () => {
    progress.textContent = "Loading the model …";
    try {
      const weights = await load(data.checkpoint);
      progress.textContent = "";
      root.removeAttribute("aria-busy");
      el.querySelector(".course-explorer-first")?.remove();
      stop = start(root, data, weights);
    } catch {
      progress.textContent = "The model could not be loaded.";
    }
  });
  return () => {
    away();
    stop();
  };
};

if (!globalThis.document) serve(makeTranslationEngine); // the same file is the worker's script

export default { render };
