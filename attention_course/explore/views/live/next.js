// The next symbol: its distribution over the whole vocabulary, and writing on.

/** @import { ModelData, Sampling, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { makeButton } from "./controls.js";
import { cut } from "./sampling.js";
import { visible } from "./text.js";

/** @typedef {{ write: (count: number) => void, stop: () => void, takeBack: () => void }} Actions */

// What is left to draw from, likeliest first, with its shares; then what was cut, with the model's own.
/** @type {(data: ModelData, sight: Sight, selected: number, sampling: Sampling) => { symbol: number, share: number, stays: boolean }[]} */
export const rank = (data, { lenses }, selected, sampling) => {
  const size = data.vocabulary.length;
  const logits = lenses[lenses.length - 1].subarray(selected * size, (selected + 1) * size);
  const { probabilities, kept, order } = cut(logits, sampling);
  const total = kept.reduce((sum, symbol) => sum + probabilities[symbol], 0);
  return order.map((symbol, place) => {
    const stays = place < kept.length;
    return { symbol, share: probabilities[symbol] / (stays ? total : 1), stays };
  });
};

/** @type {(parent: Element, actions: Actions) => (writing: boolean, canWrite: boolean, canTakeBack: boolean) => void} */
export const makeWriting = (parent, actions) => {
  const line = make(parent, "div", "course-live-line");
  const many = makeButton(line, "Write on", () => actions.write(Infinity));
  const one = makeButton(line, "Write one", () => actions.write(1));
  const stop = makeButton(line, "Stop", actions.stop);
  const back = makeButton(line, "Take back", actions.takeBack);
  return (writing, canWrite, canTakeBack) => {
    one.disabled = many.disabled = !canWrite; // a disabled button loses the focus
    stop.disabled = !writing;
    back.disabled = writing || !canTakeBack;
  };
};

/** @type {(parent: Element, data: ModelData, sampling: Sampling) => (sight: Sight, selected: number) => void} */
export const makeNext = (parent, data, sampling) => {
  const size = data.vocabulary.length;
  const box = make(parent, "div", "course-live-next");
  const title = make(box, "p");
  const list = make(box, "ol");
  list.tabIndex = 0;
  list.setAttribute("aria-label", "probabilities of the next symbol");
  const items = Array.from({ length: size }, () => {
    const item = make(list, "li");
    return { item, symbol: make(item, "span"), share: make(item, "b") };
  });
  return (sight, selected) => {
    const { symbols } = sight;
    const ranked = rank(data, sight, selected, sampling);
    const kept = ranked.filter(({ stays }) => stays).length;
    const told = [`What may follow “${visible(data.vocabulary[symbols[selected]])}” (token ${selected + 1})`];
    if (kept < size) told.push(`${kept} of ${size} symbols are left to draw from`);
    if (selected < symbols.length - 1) told.push("← stands in your text");
    title.textContent = `${told.join("; ")}:`;
    ranked.forEach(({ symbol, share, stays }, place) => {
      const { item, symbol: name, share: said } = items[place];
      name.textContent = visible(data.vocabulary[symbol]) + (symbol === symbols[selected + 1] ? " ←" : "");
      const percent = `${(100 * share).toFixed(1)}%`;
      said.textContent = stays ? percent : `cut (${percent})`;
      item.classList.toggle("course-live-cut", !stays);
      item.style.setProperty("--weight", String(stays ? share : 0));
    });
  };
};
