// The probabilities of all words for one place of the translation; a click puts another word there.

/** @import { TranslationSight, TranslatorData } from "../../types" */
import { make } from "../parts/dom.js";
import { softmax } from "./layers.js";
import { moveInRows } from "./lists.js";

/** @type {(probability: number) => string} */
export const tellShare = (probability) => (probability < 0.0005 ? "<0.1%" : `${(100 * probability).toFixed(1)}%`);

/** @type {(parent: Element, data: TranslatorData, force: (symbol: number) => void) => (sight: TranslationSight, selected: number) => void} */
export const makeInstead = (parent, { vocabulary }, force) => {
  const size = vocabulary.length;
  const box = make(parent, "div", "course-live-next");
  const title = make(box, "p");
  const label = make(box, "label", "course-live-find", "find a word");
  const find = make(label, "input");
  [find.type, find.autocapitalize, find.autocomplete, find.spellcheck] = ["search", "off", "off", false];
  const list = make(box, "div", "course-live-instead");
  list.translate = false;
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "words by their probability: choose one to be written");
  let shares = softmax(new Float32Array(size));
  /** @type {number[]} */
  let order = []; // of the words that are shown
  let now = -1; // the word that is written
  const items = vocabulary.map((_, place) => {
    const button = make(list, "button");
    button.type = "button";
    button.addEventListener("click", () => force(order[place]));
    return { button, word: make(button, "span"), share: make(button, "b") };
  });
  const restart = moveInRows(list);
  const fill = () => {
    const part = find.value.trim().toLowerCase();
    order = Array.from(shares.keys()).filter((symbol) => vocabulary[symbol].toLowerCase().includes(part));
    order.sort((a, b) => shares[b] - shares[a] || a - b);
    items.forEach(({ button, word, share }, place) => {
      const symbol = order[place];
      button.hidden = symbol === undefined;
      if (symbol === undefined) return;
      word.textContent = vocabulary[symbol];
      share.textContent = tellShare(shares[symbol]);
      button.setAttribute("aria-pressed", String(symbol === now));
      button.style.setProperty("--weight", String(shares[symbol]));
    });
  };
  const showFirst = () => {
    list.scrollTop = 0;
    restart();
  };
  find.addEventListener("input", () => {
    fill();
    showFirst();
  });
  let shown = "";
  return ({ source, written, logits }, selected) => {
    const place = JSON.stringify([source, written.slice(0, selected), selected]);
    const isOther = place !== shown;
    if (isOther) find.value = "";
    shown = place;
    shares = softmax(logits.subarray(selected * size, (selected + 1) * size));
    now = written[selected] ?? -1;
    title.textContent =
      now < 0
        ? `Word ${selected + 1} has yet to be written. Choose one, and the model goes on from there:`
        : `Word ${selected + 1} is “${vocabulary[now]}”. Choose another, and the model goes on from there:`;
    fill();
    if (isOther) showFirst();
  };
};
