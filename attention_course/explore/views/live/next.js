// The next character: its distribution over the whole vocabulary, and writing on.

/** @import { ModelData, Sampling, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { visible } from "./characters.js";
import { enable, makeButton } from "./controls.js";
import { rewrite } from "./rewrite.js";
import { cut } from "./sampling.js";
import { tellTemperature } from "./sliders.js";

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

/** @type {(line: Element, actions: Actions) => (writing: boolean, canWrite: boolean, canTakeBack: boolean) => void} */
export const makeWriting = (line, actions) => {
  let stops = false;
  const many = makeButton(line, "", () => (stops ? actions.stop() : actions.write(Infinity)));
  const one = makeButton(line, "One character", () => actions.write(1));
  const back = makeButton(line, "Undo", actions.takeBack);
  return (writing, canWrite, canTakeBack) => {
    stops = writing;
    many.textContent = writing ? "Stop" : "Let it write";
    enable(many, writing || canWrite);
    enable(one, canWrite && !writing);
    enable(back, canTakeBack && !writing);
  };
};

// What a list of next characters is headed with.
/** @type {(data: ModelData, symbols: number[], selected: number, sampling: Sampling) => string} */
export const tellWhere = ({ vocabulary }, symbols, selected, { temperature }) => {
  const where =
    selected === symbols.length - 1
      ? "What the model expects next"
      : `What the model expected after “${visible(vocabulary[symbols[selected]])}” (character ${selected + 1})`;
  return temperature === 1 ? where : `${where}, at temperature ${tellTemperature(temperature)}`;
};

// How much a character that was chosen had surprised the model.
/** @type {(data: ModelData, sight: Sight, selected: number) => string} */
const tellSurprise = ({ vocabulary }, { symbols, bits }, selected) =>
  selected && selected < symbols.length - 1
    ? `“${visible(vocabulary[symbols[selected]])}” itself cost ${bits[selected - 1].toFixed(1)} bits. `
    : "";

/** @type {(parent: Element, data: ModelData, sampling: Sampling) => (sight: Sight, selected: number) => void} */
export const makeNext = (parent, data, sampling) => {
  const size = data.vocabulary.length;
  const box = make(parent, "div", "course-live-next");
  const title = make(box, "p");
  const list = make(box, "ol");
  list.tabIndex = 0;
  list.translate = false;
  list.setAttribute("aria-label", "probabilities of the next character");
  const items = Array.from({ length: size }, () => {
    const item = make(list, "li");
    return { item, symbol: make(item, "span"), share: make(item, "b") };
  });
  let shown = "";
  let moved = false; // to ask the list itself would lay out the page
  list.addEventListener("scroll", () => (moved = true));
  return (sight, selected) => {
    const { symbols } = sight;
    const place = JSON.stringify(symbols.slice(0, selected + 1));
    if (place !== shown && moved) [list.scrollTop, moved] = [0, false]; // another character's begins at its likeliest
    shown = place;
    const ranked = rank(data, sight, selected, sampling);
    const kept = ranked.filter(({ stays }) => stays).length;
    const told = [`${tellSurprise(data, sight, selected)}${tellWhere(data, symbols, selected, sampling)} (␣ is a space, ⏎ a new line)`];
    if (kept < size) told.push(`${kept} of ${size} characters are left to draw from`);
    if (selected < symbols.length - 1) told.push("← marks the one in your text");
    title.textContent = `${told.join("; ")}:`;
    ranked.forEach(({ symbol, share, stays }, place) => {
      const { item, symbol: name, share: said } = items[place];
      rewrite(name, visible(data.vocabulary[symbol]) + (symbol === symbols[selected + 1] ? " ←" : ""));
      const percent = `${(100 * share).toFixed(1)}%`;
      rewrite(said, stays ? percent : `cut (${percent})`);
      item.classList.toggle("course-live-cut", !stays);
      item.style.setProperty("--weight", String(stays ? share : 0));
    });
  };
};
