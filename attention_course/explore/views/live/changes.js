// What the reader can take out of the model, and what that costs.

/** @import { Changes, Chosen, ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { makeCheck, without } from "./checks.js";
import { makeButton } from "./controls.js";
import { noChanges } from "./engine.js";
import { range } from "./numbers.js";

const UNMASKED = " The model was trained with the mask, and has not learned what to do with later characters.";

const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// What the text costs, beside the model as it was trained.
/** @type {(data: ModelData, sight: Sight) => string} */
export const tellCost = ({ sizes }, { bits, intactBits, changes }) => {
  if (!bits.length) return "The first character has no surprise: it is given to the model.";
  const [now, before] = [mean(bits), mean(intactBits)].map((cost) => cost.toFixed(2));
  const intact = JSON.stringify(changes) === JSON.stringify(noChanges(sizes));
  const beside = intact ? " (0: it was sure of each; 1: each was a coin toss)" : `; as the model was trained, ${before}`;
  return `Average surprise: ${now} bits a character${beside}.`;
};

// What is taken out, or nothing.
/** @type {(changes: Changes, trained: boolean) => string} */
export const tellOff = ({ heads, blocks, positions, masked }, trained) => {
  const off = heads.flatMap((list, block) => list.map((head) => `block ${block + 1} head ${head + 1}`));
  off.push(...blocks.map((block) => `block ${block + 1}`));
  if (!positions) off.push("positions");
  if (trained && !masked) off.push("mask");
  return off.length ? `Off: ${off.join(", ")}.` : "";
};

// Returns what tells the cost again: on a phone the switches stand far below the text.
/** @type {(parent: Element, data: ModelData, chosen: Chosen, change: () => void) => (sight: Sight) => void} */
export const makeChanges = (parent, data, chosen, change) => {
  const { blocks, heads, masked } = data.sizes;
  const { changes } = chosen;
  const set = (/** @type {Partial<Chosen["changes"]>} */ what) => {
    chosen.changes = { ...chosen.changes, ...what };
    change();
  };
  make(parent, "p", "", "Untick a part to switch it off.");
  const checks = range(blocks).map((b) => {
    const line = make(parent, "div", "course-live-line");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", `block ${b + 1}`);
    return [
      makeCheck(line, `block ${b + 1}`, !changes.blocks.includes(b), (on) =>
        set({ blocks: without(chosen.changes.blocks, b, on) }),
      ),
      ...range(heads).map((h) =>
        makeCheck(line, `head ${h + 1}`, !changes.heads[b].includes(h), (on) =>
          set({ heads: chosen.changes.heads.map((off, i) => (i === b ? without(off, h, on) : off)) }),
        ),
      ),
    ];
  });
  const line = make(parent, "div", "course-live-line");
  const positions = makeCheck(line, "positions", changes.positions, (on) => set({ positions: on }));
  const mask = makeCheck(line, "mask: hide the future", changes.masked, (on) => set({ masked: on }));
  makeButton(line, "As it was trained", () => {
    for (const input of [...checks.flat(), positions]) input.checked = true;
    mask.checked = masked;
    set(noChanges(data.sizes));
  });
  const cost = make(parent, "p", "course-live-note");
  return (sight) => {
    cost.textContent = tellCost(data, sight);
    if (masked && !sight.changes.masked) cost.textContent += UNMASKED;
  };
};
