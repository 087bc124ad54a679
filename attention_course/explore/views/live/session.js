// One loaded model, and what the reader does with it.

/** @import { Chosen, ModelData, Sight } from "../../types" */
/** @import { Begin } from "./stage.js" */
import { make } from "../parts/dom.js";
import { watchSurroundings } from "../parts/surroundings.js";
import { makeChanges, tellCost, tellHeldOut, tellOff } from "./changes.js";
import { nameOf, visible } from "./characters.js";
import { without } from "./checkboxes.js";
import { listShown, makeChooser, weightsOf } from "./chooser.js";
import { FOLDS } from "./chosen.js";
import { makeEngine } from "./engine.js";
import { makeFollow, tell } from "./follow.js";
import { makeHeads } from "./heads.js";
import { makeHost } from "./host.js";
import { makeLink } from "./link.js";
import { meanRow, tellLooks } from "./looks.js";
import { drawModel } from "./model_picture.js";
import { makeNext, makeWriting } from "./next.js";
import { makeShare } from "./share.js";
import { makeSliders } from "./sliders.js";
import { makeSpeech } from "./speech.js";
import { makeSurprise } from "./surprise.js";
import { makeText } from "./text.js";
import { makeTokens } from "./tokens.js";
import { makeWriter } from "./writer.js";

const LEGEND = "Each row is a character, each column one that it may look at: the stronger a cell, the more it looked there. The chosen row is framed.";
const DIAGONAL = " On the line, a character looks at itself.";
const CHEATS = " This model was trained to read the next character instead of guessing it: right of the line. After the last there is none.";

/** @type {(view: HTMLElement, data: ModelData, weights: string, chosen: Chosen) => ReturnType<Begin>} */
export const start = (view, data, weights, chosen) => {
  const root = make(view, "div", "course-live-model");
  const { ask, ready, end: endHost } = makeHost(makeEngine, data.sizes, { weights, shapes: data.shapes });
  /** @type {Sight | null} */
  let sight = null;
  let before = ""; // what was said last
  let heard = chosen.text; // the text of which it was said

  // What is seen may be of an earlier text, which was shorter.
  const followed = (/** @type {Sight} */ { symbols }) => Math.min(chosen.selected, symbols.length - 1);
  // Also before the model has answered: pressed again, a button would take back or write over what the reader typed.
  const showButtons = () => {
    const valid = chosen.typed === chosen.text;
    enable(writer.many, valid && chosen.text.length < data.limit, valid && writer.written() > 0);
  };
  const redraw = () => {
    if (!sight) return;
    const selected = followed(sight);
    const seen = looks(sight);
    const shown = listShown(data.sizes, chosen);
    if (isOpen("heads")) heads.draw(seen, selected); // first: it measures the page, which is cheap until something changes
    drawTokens(sight, selected, meanRow(seen, shown, selected));
    told.textContent = tellLooks(seen, data.sizes, chosen, selected, seen.keys);
    drawSurprise(sight, selected);
    drawNext(sight, selected);
    showButtons();
    if (isOpen("follow")) follow(sight, selected);
    cost.textContent = `${tellCost(data, sight)} ${tellOff(data.sizes, sight.changes)}`.trim();
    heldOut.textContent = tellHeldOut(data, sight.changes);
    heldOut.hidden = !heldOut.textContent;
    if (isOpen("changes")) repeatCost(sight);
    const state = { ...chosen, selected, changes: sight.changes, ...chosen.sampling, written: writer.written(), writing: writer.busy };
    view.explorer = { state, sight, get weights() { return shown.map((one) => weightsOf(seen, one)); } };
    speech.later();
  };
  const looks = (/** @type {Sight} */ { symbols, weights, changes: { heads, blocks, masked } }) => {
    const tokens = symbols.map((symbol) => visible(data.vocabulary[symbol]));
    const legend = `${LEGEND}${masked ? "" : DIAGONAL}${data.sizes.masked ? "" : CHEATS}`;
    const isOff = (/** @type {number} */ b, /** @type {number} */ h) => heads[b].includes(h) || blocks.includes(b);
    return { queries: tokens, keys: tokens, weights, masked, legend, isOff, unit: "character", diagonal: !masked };
  };
  const sentence = () => {
    if (!sight || writer.busy) return null;
    const { symbols, lenses } = sight;
    const size = data.vocabulary.length;
    const selected = followed(sight);
    const logits = lenses[lenses.length - 1].subarray(selected * size, (selected + 1) * size);
    const after = nameOf(data.vocabulary[symbols[selected]]);
    const where = tellLooks(looks(sight), data.sizes, chosen, selected, symbols.map((symbol) => nameOf(data.vocabulary[symbol])));
    const next = `${where} After “${after}” the model says ${tell(data, logits, nameOf)}. ${tellCost(data, sight)}`;
    if (next === before) return null;
    const goesOn = writer.written() && chosen.text !== heard && chosen.text.startsWith(heard);
    const wrote = goesOn ? `It wrote “${chosen.text.slice(heard.length)}”. ` : "";
    const first = !before; // not of itself when the page opens
    [before, heard] = [next, chosen.text];
    return first ? null : wrote + next;
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
    showButtons();
  };
  const writer = makeWriter(data, chosen, update, setText);
  // What stands in the box, and as much of it as the model reads; nothing where it cannot.
  const read = (/** @type {string} */ typed, /** @type {string | null} */ text) => {
    writer.interrupt(text !== null);
    if (text !== null) [chosen.text, chosen.selected] = [text, text.length - 1];
    chosen.typed = typed;
    showButtons();
    update();
  };
  const select = (/** @type {number} */ token) => {
    chosen.selected = token;
    if (writer.busy) writer.stop(); // or the next one that is written would be chosen
    redraw();
  };
  const indexOf = (/** @type {keyof typeof FOLDS} */ name) => Object.keys(FOLDS).indexOf(name);
  // Whether the reader sees what is in a fold that stands in the first.
  const isOpen = (/** @type {keyof typeof FOLDS} */ name) =>
    [indexOf("inside"), indexOf(name)].every((index) => chosen.open.includes(index));
  const fold = (/** @type {Element} */ parent, /** @type {keyof typeof FOLDS} */ name) => {
    const index = indexOf(name);
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
  const enable = makeWriting(line, writer);
  const showText = makeText(root, data, line, read);
  make(root, "p", "course-live-heading", "Tap a letter: what does it look at?");
  makeChooser(root, data.sizes, chosen, redraw);
  const drawTokens = makeTokens(root, data, select);
  const told = make(root, "p", "course-live-looks");
  const drawSurprise = makeSurprise(root, data);
  const cost = make(root, "p", "course-live-cost");
  const heldOut = make(root, "p");
  const drawNext = makeNext(root, data, chosen.sampling);
  const inside = fold(root, "inside");
  const heads = makeHeads(fold(inside, "heads"), data.sizes, select, chosen);
  makeSliders(fold(inside, "sampling"), chosen.sampling, data.vocabulary.length, data.steps, redraw);
  const follow = makeFollow(fold(inside, "follow"), data);
  const repeatCost = makeChanges(fold(inside, "changes"), data, chosen, update);
  makeShare(root, "live-model", () => {
    const seen = sight;
    return {
      text: chosen.text,
      link: makeLink(chosen, data),
      isLast: chosen.typed === chosen.text,
      draw: seen && (() => drawModel(root, data, seen, followed(seen), chosen.sampling, looks(seen), chosen)),
    };
  });
  const speech = makeSpeech(root, sentence);
  showText(chosen.typed);
  showButtons();
  update();

  const recolour = () => {
    heads.recolour();
    redraw();
  };
  const unwatch = watchSurroundings(root, recolour, redraw);
  const end = () => {
    writer.interrupt(false);
    speech.end();
    unwatch();
    endHost();
    root.remove();
  };
  return { root, ready, end };
};
