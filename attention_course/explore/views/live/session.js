// One loaded model, and what the reader does with it.

/** @import { Chosen, ModelData, Sight } from "../../types" */
/** @import { Begin } from "./stage.js" */
import { make } from "../parts/dom.js";
import { watchSurroundings } from "../parts/surroundings.js";
import { makeChanges, tellCost, tellOff } from "./changes.js";
import { nameOf, visible } from "./characters.js";
import { without } from "./checks.js";
import { FOLDS } from "./chosen.js";
import { makeEngine } from "./engine.js";
import { makeFollow, tell } from "./follow.js";
import { makeHeads } from "./heads.js";
import { makeHost } from "./host.js";
import { makeLink } from "./link.js";
import { drawModel } from "./model_picture.js";
import { makeNext, makeWriting } from "./next.js";
import { drawSymbol } from "./sampling.js";
import { makeShare } from "./share.js";
import { makeSliders } from "./sliders.js";
import { makeText } from "./text.js";
import { makeTokens } from "./tokens.js";

/** @type {(view: HTMLElement, data: ModelData, weights: string, chosen: Chosen) => ReturnType<Begin>} */
export const start = (view, data, weights, chosen) => {
  const root = make(view, "div", "course-live-model");
  const { ask, ready, end: endHost } = makeHost(makeEngine, data.sizes, { weights, shapes: data.shapes });
  /** @type {number[]} */
  let runs = []; // how many characters at the end each press of a button has written
  /** @type {{ many: boolean, left: number } | null} */
  let writing = null; // the run that writes, and how many characters it has yet to write
  /** @type {Sight | null} */
  let sight = null;
  let sentence = 0; // the timer of the one to be said
  let told = ""; // what was said last
  let heard = chosen.text; // the text of which it was said

  const written = () => runs.reduce((sum, count) => sum + count, 0);
  // What is seen may be of an earlier text, which was shorter.
  const followed = (/** @type {Sight} */ { symbols }) => Math.min(chosen.selected, symbols.length - 1);
  // Also before the model has answered: pressed again, a button would take back or write over what the reader typed.
  const showButtons = () => {
    const valid = chosen.typed === chosen.text;
    enable(writing?.many === true, valid && chosen.text.length < data.limit, valid && written() > 0);
  };
  const redraw = () => {
    if (!sight) return;
    const selected = followed(sight);
    drawTokens(sight, selected);
    drawNext(sight, selected);
    showButtons();
    follow(sight, selected);
    const shown = heads.draw(looks(sight), selected);
    cost.textContent = `${tellCost(data, sight)} ${tellOff(sight.changes, data.sizes.masked)}`.trim();
    repeatCost(sight);
    const state = { ...chosen, selected, changes: sight.changes, ...chosen.sampling, written: written(), writing: writing !== null };
    view.explorer = { state, sight, weights: shown.map((one) => one.weights) };
    clearTimeout(sentence); // one sentence for a whole word that is typed
    sentence = setTimeout(say, 700, sight);
  };
  const looks = (/** @type {Sight} */ { symbols, weights, changes: { heads, blocks, masked } }) => {
    const tokens = symbols.map((symbol) => visible(data.vocabulary[symbol]));
    const legend = "Each row is a character, each column one that it may look at: the stronger a cell, the more it looked there. The chosen row is framed.";
    const isOff = (/** @type {number} */ b, /** @type {number} */ h) => heads[b].includes(h) || blocks.includes(b);
    return { queries: tokens, keys: tokens, weights, masked, legend, isOff, unit: "character" };
  };
  const say = (/** @type {Sight} */ seen) => {
    const { symbols, lenses } = seen;
    const size = data.vocabulary.length;
    const selected = followed(seen);
    const logits = lenses[lenses.length - 1].subarray(selected * size, (selected + 1) * size);
    const after = nameOf(data.vocabulary[symbols[selected]]);
    const next = `After “${after}” the model says ${tell(data, logits, nameOf)}. ${tellCost(data, seen)}`;
    if (writing || next === told) return;
    const wrote = written() && chosen.text !== heard ? `It wrote “${chosen.text.slice(-written())}”. ` : "";
    if (told) said.textContent = wrote + next; // not of itself when the page opens
    [told, heard] = [next, chosen.text];
  };
  const update = async () => {
    const symbols = Array.from(chosen.text, (character) => data.vocabulary.indexOf(character));
    const answer = await ask({ symbols, changes: chosen.changes });
    if (!answer) return null;
    sight = answer;
    redraw();
    return answer;
  };
  const setText = (/** @type {string} */ text) => {
    chosen.text = chosen.typed = text;
    chosen.selected = text.length - 1;
    showText(text);
  };
  const read = (/** @type {string} */ typed, /** @type {boolean} */ fits) => {
    writing = null;
    chosen.typed = typed;
    if (fits) {
      runs = [];
      setText(typed);
    }
    showButtons();
    update();
  };
  const select = (/** @type {number} */ token) => {
    chosen.selected = token;
    if (writing) stop(); // or the next one that is written would be chosen
    redraw();
  };
  const write = async (/** @type {number} */ count) => {
    if (writing) {
      writing.left += count; // pressed again before its character came
      return;
    }
    const mine = (writing = { many: count > 1, left: count });
    if (mine.many) runs.push(0);
    while (writing === mine && mine.left > 0 && chosen.text.length < data.limit) {
      const answer = await update();
      if (writing !== mine) return;
      if (!answer) continue; // the reader has changed the model meanwhile: ask again
      const logits = answer.lenses[answer.lenses.length - 1].slice(-data.vocabulary.length);
      const symbol = drawSymbol(logits, chosen.sampling, chosen.text.length);
      if (mine.many) runs[runs.length - 1]++;
      else runs.push(1);
      mine.left--;
      setText(chosen.text + data.vocabulary[symbol]);
    }
    if (writing === mine) stop();
  };
  const stop = () => {
    writing = null;
    runs = runs.filter(Boolean); // stopped before its first character, or begun at the limit
    update();
  };
  const takeBack = () => {
    const count = runs.pop() ?? 0;
    setText(chosen.text.slice(0, chosen.text.length - count));
    showButtons();
    update();
  };

  const fold = (/** @type {Element} */ parent, /** @type {keyof typeof FOLDS} */ name) => {
    const index = Object.keys(FOLDS).indexOf(name);
    const box = make(parent, "details", "course-live-section");
    make(box, "summary", "", FOLDS[name]);
    box.open = chosen.open.includes(index);
    box.addEventListener("toggle", () => {
      const others = chosen.open.filter((other) => other !== index);
      chosen.open = box.open ? without(others, index, false) : others;
      redraw(); // what is closed has no width to fill
    });
    return make(box, "div");
  };
  const line = document.createElement("div");
  line.className = "course-live-line";
  const enable = makeWriting(line, { write, stop, takeBack });
  const showText = makeText(root, data, line, read);
  const drawTokens = makeTokens(root, data, select);
  const cost = make(root, "p", "course-live-cost");
  const drawNext = makeNext(root, data, chosen.sampling);
  const inside = fold(root, "inside");
  makeSliders(fold(inside, "sampling"), chosen.sampling, data.vocabulary.length, data.steps, redraw);
  const heads = makeHeads(fold(inside, "heads"), data.sizes, select, redraw, chosen);
  const follow = makeFollow(fold(inside, "follow"), data);
  const repeatCost = makeChanges(fold(inside, "changes"), data, chosen, update);
  makeShare(root, "live-model", () => {
    const seen = sight;
    return {
      text: chosen.text,
      link: makeLink(chosen, data),
      isLast: chosen.typed === chosen.text,
      draw: seen && (() => drawModel(root, data, seen, followed(seen), chosen.sampling)),
    };
  });
  const said = make(root, "p", "course-live-said");
  said.setAttribute("aria-live", "polite");
  showText(chosen.typed);
  showButtons();
  update();

  const recolour = () => {
    heads.recolour();
    redraw();
  };
  const unwatch = watchSurroundings(root, recolour, redraw);
  const end = () => {
    writing = null;
    clearTimeout(sentence);
    unwatch();
    endHost();
    root.remove();
  };
  return { root, ready, end };
};
