// The sentence and what is written of its translation, one above the other, and lines to where the model looked.

/** @import { TranslationSight, TranslatorData } from "../../types" */
import { make } from "../parts/dom.js";
import { moveInRows } from "./lists.js";
import { mostSeen, strongest } from "./numbers.js";
import { rewrite } from "./rewrite.js";

export const STRONGEST = 3; // lines from the chosen word; each other word has one
const SVG = "http://www.w3.org/2000/svg";

// As many elements in a box as there are words.
/** @type {<Tag extends "span" | "button">(box: Element, tag: Tag, words: string[]) => HTMLElementTagNameMap[Tag][]} */
const fill = (box, tag, words) => {
  while (box.childElementCount < words.length) make(box, tag);
  while (box.childElementCount > words.length) box.lastElementChild?.remove();
  const all = /** @type {any[]} */ ([...box.children]);
  all.forEach((element, i) => rewrite(element, words[i]));
  return all;
};

/** @type {(words: HTMLElement[]) => boolean} */
const areInOneRow = (words) => words.every((word) => word.offsetTop === words[0].offsetTop);

/** @type {(parent: Element, data: TranslatorData, select: (word: number) => void) => (sight: TranslationSight, selected: number, forced: number[], looks: number[][]) => void} */
export const makeRows = (parent, data, select) => {
  const box = make(parent, "div", "course-live-rows");
  const web = document.createElementNS(SVG, "svg");
  web.setAttribute("aria-hidden", "true");
  box.append(web);
  make(box, "p", "course-live-note", "It reads the upper words, and writes the lower ones:");
  const source = make(box, "div", "course-live-row");
  source.setAttribute("role", "group");
  source.setAttribute("aria-label", "words that it reads");
  const target = make(box, "div", "course-live-row course-live-written");
  source.translate = target.translate = false;
  make(box, "p", "course-live-note", "Choose a written word to see where the model looked to write it; the lines are the mean of the maps below.");
  target.setAttribute("role", "group");
  target.setAttribute("aria-label", "written words: choose one to see where the model looked");
  target.addEventListener("click", ({ target: clicked }) => {
    const word = [...target.children].findIndex((button) => button.contains(/** @type {Node} */ (clicked)));
    if (word >= 0) select(word);
  });
  moveInRows(target, true);

  /** @type {(from: Element, to: Element, weight: number, chosen: boolean) => void} */
  const connect = (from, to, weight, chosen) => {
    const [whole, above, below] = [box, from, to].map((element) => element.getBoundingClientRect());
    const line = document.createElementNS(SVG, "line");
    const places = {
      x1: above.x + above.width / 2 - whole.x,
      y1: above.bottom - whole.y,
      x2: below.x + below.width / 2 - whole.x,
      y2: below.y - whole.y,
    };
    for (const [name, place] of Object.entries(places)) line.setAttribute(name, place.toFixed(1));
    line.setAttribute("stroke-width", String(chosen ? 1 + 5 * weight : 1));
    line.setAttribute("stroke-opacity", String(chosen ? 0.35 + 0.65 * weight : 0.25));
    web.append(line);
  };

  return ({ source: symbols, written }, selected, forced, looks) => {
    const words = fill(source, "span", symbols.map((symbol) => data.vocabulary[symbol]));
    const labels = looks.map((_, i) => data.vocabulary[written[i]] ?? "…");
    const buttons = fill(target, "button", labels);
    buttons.forEach((button, i) => {
      button.type = "button";
      button.setAttribute("aria-pressed", String(i === selected));
      const name = i < written.length ? labels[i] : "the next word";
      button.setAttribute("aria-label", `${name}, word ${i + 1}${forced.includes(i) ? ", chosen by you" : ""}`);
      button.classList.toggle("course-live-forced", forced.includes(i));
      button.tabIndex = i === selected ? 0 : -1;
    });
    words.forEach((word, i) => word.style.setProperty("--weight", String(looks[selected][i])));
    web.replaceChildren();
    const isPlain = areInOneRow(words) && areInOneRow(buttons); // else many lines would run behind words
    looks.forEach((row, i) => {
      if (!isPlain || i === selected || i >= written.length) return;
      const [best] = strongest(row, 1);
      connect(words[best], buttons[i], row[best], false);
    });
    for (const place of mostSeen(looks[selected], STRONGEST)) {
      connect(words[place], buttons[selected], looks[selected][place], true);
    }
  };
};
