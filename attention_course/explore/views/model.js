// A language model that the course trained, at work in the reader's browser on text that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show) and
// `sight`, what was computed.

/** @import { Changes, ModelData, ModelValues, Render, Sampling, Sight } from "../types" */
import { make } from "./parts/dom.js";
import { makeChanges, tellCost } from "./live/changes.js";
import { makeEngine, noChanges } from "./live/engine.js";
import { makeFollow, tell } from "./live/follow.js";
import { makeHeads } from "./live/heads.js";
import { makeHost, serve } from "./live/host.js";
import { makeNext } from "./live/next.js";
import { drawSymbol } from "./live/sampling.js";
import { makeText, visible } from "./live/text.js";
import { makeTokens } from "./live/tokens.js";
import { load, whenSeen } from "./live/weights.js";

/** @type {(view: HTMLElement, data: ModelData, weights: string) => () => void} */
const start = (view, data, weights) => {
  const root = make(view, "div", "course-live-model");
  const { ask, end } = makeHost(makeEngine, data.sizes, { weights, shapes: data.shapes });
  /** @type {Sampling} */
  const sampling = { temperature: 1, topK: data.vocabulary.length, topP: 1, seed: 0 };
  let text = data.text;
  let written = 0; // how many characters at the end the model wrote
  let writing = false;
  let valid = true; // whether the box holds the text
  let changes = noChanges(data.sizes);
  let selected = text.length - 1;
  /** @type {Sight | null} */
  let sight = null;
  let sentence = 0; // the timer of the one to be said

  const redraw = () => {
    if (!sight) return;
    selected = Math.min(selected, sight.symbols.length - 1);
    drawTokens(sight, selected);
    next.draw(sight, selected);
    next.enable(writing, valid && text.length < data.limit, valid && written > 0);
    follow(sight, selected);
    const shown = heads.draw(looks(sight), selected);
    cost.textContent = tellCost(sight);
    const state = { text, selected, changes: sight.changes, ...sampling, written, writing };
    view.explorer = { state, sight, weights: shown.map((one) => one.weights) };
    clearTimeout(sentence); // one sentence for a whole word that is typed
    sentence = setTimeout(say, 700, sight);
  };
  const looks = (/** @type {Sight} */ { symbols, weights, changes: { heads, blocks, masked } }) => {
    const tokens = symbols.map((symbol) => visible(data.vocabulary[symbol]));
    const legend = "Rows are queries, columns keys; the followed token's row is framed.";
    const isOff = (/** @type {number} */ b, /** @type {number} */ h) => heads[b].includes(h) || blocks.includes(b);
    return { queries: tokens, keys: tokens, weights, masked, legend, isOff };
  };
  const say = (/** @type {Sight} */ { symbols, lenses }) => {
    const size = data.vocabulary.length;
    const logits = lenses[lenses.length - 1].subarray(selected * size, (selected + 1) * size);
    const after = visible(data.vocabulary[symbols[selected]]);
    said.textContent = `After “${after}” the model says ${tell(data, logits)}. ${sight ? tellCost(sight) : ""}`;
  };
  const update = async () => {
    const symbols = Array.from(text, (character) => data.vocabulary.indexOf(character));
    const answer = await ask({ symbols, changes });
    if (answer) sight = answer;
    if (answer) redraw();
    return answer;
  };
  const read = (/** @type {string | null} */ typed) => {
    [valid, writing] = [typed !== null, false];
    if (typed !== null) [text, written, selected] = [typed, 0, typed.length - 1];
    update();
  };
  const select = (/** @type {number} */ token) => {
    selected = token;
    redraw();
  };
  const write = async (/** @type {number} */ count) => {
    if (writing) return;
    writing = true;
    for (; writing && count > 0 && text.length < data.limit; count--) {
      const before = text;
      const answer = await update();
      if (!writing || !answer || text !== before) break;
      const { lenses } = answer;
      const logits = lenses[lenses.length - 1].slice(-data.vocabulary.length);
      text += data.vocabulary[drawSymbol(logits, sampling, text.length)];
      written++;
      selected = text.length - 1;
      showText(text);
    }
    writing = false;
    update();
  };
  const takeBack = () => {
    text = text.slice(0, -1);
    written--;
    selected = text.length - 1;
    showText(text);
    update();
  };

  const section = (/** @type {string} */ title) => {
    const box = make(root, "details", "course-live-section");
    make(box, "summary", "", title);
    box.addEventListener("toggle", redraw); // what is closed has no width to fill
    return make(box, "div");
  };
  const showText = makeText(root, data, read);
  const drawTokens = makeTokens(root, data, select);
  const cost = make(root, "p", "course-live-cost");
  const next = makeNext(root, data, sampling, { write, stop: () => (writing = false), takeBack }, redraw);
  const heads = makeHeads(section("Where it looks: the attention weights"), data.sizes, select, redraw);
  const follow = makeFollow(section("Follow one token through the blocks"), data);
  makeChanges(section("Take something out of the model"), data, (changed) => {
    changes = changed;
    update();
  });
  const said = make(root, "p", "course-live-said");
  said.setAttribute("aria-live", "polite");
  showText(text);
  update();

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
  const size = new ResizeObserver(() => requestAnimationFrame(fit));
  size.observe(root);
  return () => {
    writing = false;
    clearTimeout(sentence);
    theme.disconnect();
    size.disconnect();
    end();
    root.remove();
  };
};

/** @type {Render<ModelValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const root = make(el, "div", "course-explorer-view course-live");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  root.setAttribute("aria-busy", "true");
  const progress = make(root, "p", "course-live-note", "The model loads when you come here.");
  let stop = () => {};
  const open = async (/** @type {number} */ index) => {
    progress.textContent = "Loading the model …";
    const one = data.models[index];
    try {
      const weights = await load(one.checkpoint);
      stop();
      progress.textContent = "";
      root.removeAttribute("aria-busy");
      el.querySelector(".course-explorer-first")?.remove();
      stop = start(root, { ...data, ...one, text: root.explorer?.state.text ?? data.text }, weights);
    } catch {
      progress.textContent = "The model could not be loaded.";
    }
  };
  const away = whenSeen(root, () => {
    if (data.models.length > 1) {
      const choice = make(make(root, "label", "course-live-choice", "Model "), "select");
      data.models.forEach(({ name }, index) => choice.add(new Option(name, String(index))));
      choice.addEventListener("change", () => open(Number(choice.value)));
    }
    open(0);
  });
  return () => {
    away();
    stop();
  };
};

if (!globalThis.document) serve(makeEngine); // the same file is the worker's script

export default { render };
