// One loaded translator, and what the reader does with it.

/** @import { Looks, Translating, TranslationSight, TranslatorData } from "../../types" */
/** @import { Begin } from "./stage.js" */
import { make } from "../parts/dom.js";
import { watchSurroundings } from "../parts/surroundings.js";
import { makeChooser } from "./chooser.js";
import { enable, makeButton } from "./controls.js";
import { makeHeads } from "./heads.js";
import { makeHost } from "./host.js";
import { makeInstead } from "./instead.js";
import { mostSeen } from "./numbers.js";
import { makeOmissions, tellOut, tellRates } from "./omissions.js";
import { makeRows } from "./rows.js";
import { makeSentence } from "./sentence.js";
import { makeShare } from "./share.js";
import { makeSpeech } from "./speech.js";
import { makeTranslationEngine, noTranslatorChanges } from "./translation.js";
import { isDone, makeLink } from "./translation_link.js";
import { drawTranslation } from "./translation_picture.js";

const FROM = "Its query was computed from the word before, the newest that the model had read.";

/** @type {(view: HTMLElement, data: TranslatorData, weights: string, linked: Translating | null) => ReturnType<Begin>} */
export const start = (view, data, weights, linked) => {
  const root = make(view, "div", "course-live-model");
  const { ask, ready, end: endHost } = makeHost(makeTranslationEngine, data.sizes, { weights, shapes: data.shapes });
  const size = data.vocabulary.length;
  let text = ""; // of the sentence that is read
  /** @type {number[]} */
  let source = [];
  /** @type {number[]} */
  let written = [];
  /** @type {number[]} */
  let forced = []; // places of words that the reader chose
  let changes = linked?.changes ?? noTranslatorChanges(data.sizes);
  let selected = 0;
  let acts = 0; // of the reader, so far: each ends what is being written
  let writing = false;
  /** @type {TranslationSight | null} */
  let sight = null;
  /** @type {number[][]} */
  let looks = [];
  let fault = ""; // of the sentence that is typed
  /** @type {string[] | null} */
  let heard = null; // what was to be said last; at first nothing, for nobody has asked

  // What the maps show: a row for each word that was read, named with the word written after it, if there is one.
  /** @type {(sight: TranslationSight, rows: number) => Looks} */
  const show = ({ source, written, weights, changes: { heads, decoder } }, rows) => ({
    queries: Array.from(
      { length: rows },
      (_, i) => `${data.vocabulary[written[i - 1]] ?? "start"} → ${data.vocabulary[written[i]] ?? "…"}`,
    ),
    keys: source.map((symbol) => data.vocabulary[symbol]),
    weights,
    masked: false,
    legend: "A row is a word that was read and, after the arrow, the word written next; columns are those of the sentence. The chosen word's row is framed.",
    isOff: (b, h) => heads[b].includes(h) || decoder.includes(b),
  });
  const shown = { block: linked?.block ?? data.sizes.blocks, head: linked?.head ?? 0 };
  const done = () => isDone(written, data);
  const redraw = () => {
    if (!sight) return;
    const rows = sight.logits.length / size;
    selected = Math.min(selected, rows - 1);
    const maps = heads.draw(show(sight, rows), selected);
    looks = maps[0].weights.map((row, i) =>
      row.map((_, j) => maps.reduce((sum, one) => sum + one.weights[i][j], 0) / maps.length),
    );
    drawRows(sight, selected, forced, looks);
    drawInstead(sight, selected);
    cost.textContent = tellRates(data, sight);
    for (const button of [one, all]) enable(button, !done());
    for (const button of [back, again]) enable(button, written.length > 0);
    const state = { source, written, forced, selected, changes: sight.changes, writing, ...shown };
    view.explorer = { state, sight, looks, weights: maps.map(({ weights }) => weights) };
    speech.later();
  };
  // Says what has changed since the last time, once the model has written; a fault alone.
  const sentence = () => {
    if (!sight || writing) return null;
    const word = data.vocabulary[written[selected]] ?? "the next word";
    const told = mostSeen(looks[selected], 3).map(
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
    return news.includes(fault) ? fault : news.join(" ");
  };
  const update = async () => {
    const answer = await ask({ source, written, done: done(), changes });
    if (!answer) return null;
    sight = answer;
    redraw();
    return answer;
  };
  // Writes on; the newest word is chosen, unless one stays.
  /** @type {(count: number, stay?: number) => Promise<void>} */
  const write = async (count, stay) => {
    const mine = ++acts;
    writing = true;
    for (; count > 0 && !done(); count--) {
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
  /** @type {(words: string[], wrong: string, typed: string) => void} */
  const read = (words, wrong, typed) => {
    fault = wrong;
    speech.later();
    if (fault) return;
    text = typed;
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
  const restore = (/** @type {Translating} */ state) => {
    keep(0);
    ({ written, forced, selected } = state);
    update();
  };
  // What a link would say, and what a picture shows.
  const see = () => {
    const [seen, mean] = [sight, looks];
    const place = Math.min(selected, written.length - (done() ? 1 : 0));
    const state = { text, written, forced, selected: place, changes, ...shown };
    const draw = seen && mean[selected] && (() => drawTranslation(root, data, seen, mean, { ...state, selected }));
    return { text, link: makeLink(state, data), isLast: !fault, draw: draw || null };
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
  makeChooser(maps, data.sizes, shown, redraw);
  const heads = makeHeads(maps, data.sizes, select, shown);
  const drawInstead = makeInstead(section("What else it could write", true), data, force);
  makeOmissions(section("Take something out of the model", tellOut(changes) !== ""), data, changes, (changed) => {
    acts++;
    writing = false;
    changes = changed;
    update();
  });
  makeShare(root, "translation", see);
  const speech = makeSpeech(root, sentence);
  makeSentence(typed, data, linked?.text ?? data.text, read);
  if (linked) restore(linked);

  const recolour = () => {
    heads.recolour();
    redraw();
  };
  const unwatch = watchSurroundings(root, recolour, redraw);
  const end = () => {
    acts++;
    speech.end();
    unwatch();
    endHost();
    root.remove();
  };
  return { root, ready, end };
};
