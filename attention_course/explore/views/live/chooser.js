// Of which block and head the weights are shown: of one, or of all.

/** @import { Looks, ModelSizes } from "../../types" */
import { make, uniqueId } from "../parts/dom.js";
import { range } from "./numbers.js";

/** @typedef {{ block: number, head: number }} Place both counted from 1; 0 is all of them */
/** @typedef {Pick<ModelSizes, "blocks" | "heads">} Sizes */

// `chosen` keeps the choice.
/** @type {(parent: Element, sizes: Sizes, chosen: Place, change: () => void) => void} */
export const makeChooser = (parent, { blocks, heads }, chosen, change) => {
  const line = make(parent, "div", "course-live-chooser");
  const group = uniqueId("course-live-chooser");
  /** @type {(name: "block" | "head", count: number) => void} */
  const addChoice = (name, count) => {
    const box = make(line, "fieldset");
    make(box, "legend", "", name);
    ["all", ...range(count).map((index) => String(index + 1))].forEach((text, index) => {
      const label = make(box, "label");
      const input = make(label, "input");
      [input.type, input.name, input.checked] = ["radio", `${group}-${name}`, chosen[name] === index];
      input.setAttribute("aria-label", index ? `${name} ${text}` : `all ${name}s`);
      make(label, "span", "", text);
      input.addEventListener("change", () => {
        chosen[name] = index;
        change();
      });
    });
  };
  addChoice("block", blocks);
  addChoice("head", heads);
};

// Those that are chosen, counted from 0.
/** @type {(sizes: Sizes, chosen: Place) => Place[]} */
export const listShown = ({ blocks, heads }, chosen) => {
  /** @type {(number: number, count: number) => number[]} */
  const which = (number, count) => (number ? [number - 1] : range(count));
  return which(chosen.block, blocks).flatMap((block) => which(chosen.head, heads).map((head) => ({ block, head })));
};

// The weights of one of them: a row for each query, over all keys.
/** @type {(looks: Looks, place: Place) => number[][]} */
export const weightsOf = ({ keys, weights }, { block, head }) =>
  weights[block][head].map((row) => keys.map((_, key) => row[key] ?? 0));
