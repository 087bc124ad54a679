// The probabilities of all words for one place of the translation; a click puts another word there.

/** @import { TranslationSight, TranslatorData } from "../../types" */
import { make } from "../parts/dom.js";
import { moveByKeys } from "./keys.js";
import { softmax } from "./layers.js";

/** @type {(parent: Element, data: TranslatorData, force: (symbol: number) => void) => (sight: TranslationSight, selected: number) => void} */
export const makeInstead = (parent, data, force) => {
  const size = data.vocabulary.length;
  const box = make(parent, "div", "course-live-next");
  const title = make(box, "p");
  const list = make(box, "div", "course-live-instead");
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "words by their probability: choose one to be written");
  moveByKeys(list, false);
  let order = Array.from({ length: size }, (_, i) => i);
  const items = order.map((_, place) => {
    const button = make(list, "button");
    button.type = "button";
    button.tabIndex = place ? -1 : 0;
    button.addEventListener("click", () => force(order[place]));
    return { button, word: make(button, "span"), share: make(button, "b") };
  });
  return ({ written, logits }, selected) => {
    const shares = softmax(logits.subarray(selected * size, (selected + 1) * size));
    order = Array.from(shares.keys()).sort((a, b) => shares[b] - shares[a] || a - b);
    const now = data.vocabulary[written[selected]];
    title.textContent = now
      ? `Word ${selected + 1} is “${now}”. Choose another, and the model goes on from there:`
      : `Word ${selected + 1} has yet to be written. Choose one, and the model goes on from there:`;
    order.forEach((symbol, place) => {
      const { button, word, share } = items[place];
      word.textContent = data.vocabulary[symbol];
      share.textContent = `${(100 * shares[symbol]).toFixed(1)}%`;
      button.setAttribute("aria-pressed", String(symbol === written[selected]));
      button.style.setProperty("--weight", String(shares[symbol]));
    });
  };
};
