// What the reader can take out of the model, and what that costs.

/** @import { Changes, Chosen, ModelData, ModelSizes, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { makeCheck, without } from "./checkboxes.js";
import { makeButton, makeMenu } from "./controls.js";
import { isIntact, noChanges } from "./engine.js";
import { range } from "./numbers.js";

const WHAT_OFF_MEANS = "Untick a part to switch it off: a block then adds nothing, and a head says the same to every character";
const MEAN = ", its mean over unread text or zeros";
const INSTEAD = ["its mean", "zeros"];
const UNMASKED = " The model was trained with the mask, and has not learned what to do with later characters.";

const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// What the text costs, beside the model as it was trained.
/** @type {(data: ModelData, sight: Sight) => string} */
export const tellCost = ({ sizes }, { bits, intactBits, changes }) => {
  if (!bits.length) return "The first character has no surprise: it is given to the model.";
  const [now, before] = [mean(bits), mean(intactBits)].map((cost) => cost.toFixed(2));
  const beside = isIntact(sizes, changes) ? "" : `; as the model was trained, ${before}`;
  return `On this text: ${now} bits a character${beside}.`;
};

// What the same costs on other text, where it was measured: with nothing off, or one part.
/** @type {(data: ModelData, changes: Changes) => string} */
export const tellHeldOut = ({ sizes, costs }, { heads, blocks, positions, masked, means }) => {
  if (!costs) return "";
  const ofHeads = means ? costs.with_means : costs.zeros;
  const alone = heads.flatMap((list, b) => (blocks.includes(b) ? [] : list.map((head) => ofHeads[b][head])));
  alone.push(...blocks.map((block) => costs.blocks[block]));
  if (!positions) alone.push(costs.positions);
  if (masked !== sizes.masked) alone.push(costs.mask);
  const now = alone.length > 1 ? "not measured with all of these off" : `${(alone[0] ?? costs.bits).toFixed(2)} bits a character`;
  const beside = alone.length ? `; as the model was trained, ${costs.bits.toFixed(2)}` : "";
  return `On ${costs.n_pieces} passages of unread text: ${now}${beside}.`;
};

// What is taken out, or nothing.
/** @type {(sizes: ModelSizes, changes: Changes) => string} */
export const tellOff = (sizes, { heads, blocks, positions, masked, means }) => {
  const instead = sizes.means ? ` (${means ? "mean" : "zeros"})` : "";
  const off = heads.flatMap((list, block) => list.map((head) => `block ${block + 1} head ${head + 1}${instead}`));
  off.push(...blocks.map((block) => `block ${block + 1}`));
  if (!positions) off.push("positions");
  if (sizes.masked && !masked) off.push("mask");
  return off.length ? `Off: ${off.join(", ")}.` : "";
};

// Returns what tells the cost again: on a phone the switches stand far below the text.
/** @type {(parent: Element, data: ModelData, chosen: Chosen, change: () => void) => (sight: Sight) => void} */
export const makeChanges = (parent, data, chosen, change) => {
  const { blocks, heads, masked, means } = data.sizes;
  const set = (/** @type {Partial<Chosen["changes"]>} */ what) => {
    chosen.changes = { ...chosen.changes, ...what };
    show();
    change();
  };
  make(parent, "p", "", `${WHAT_OFF_MEANS}${means ? MEAN : ""}.`);
  const options = means ? INSTEAD : INSTEAD.slice(1);
  const menu = makeMenu(parent, "A head that is off says", options, (index) => set({ means: means && !index }));
  const checks = range(blocks).map((b) => {
    const line = make(parent, "div", "course-live-line");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", `block ${b + 1}`);
    const block = makeCheck(line, `block ${b + 1}`, true, (on) =>
      set({ blocks: without(chosen.changes.blocks, b, on) }),
    );
    const itsHeads = range(heads).map((h) =>
      makeCheck(line, `head ${h + 1}`, true, (on) =>
        set({ heads: chosen.changes.heads.map((off, i) => (i === b ? without(off, h, on) : off)) }),
      ),
    );
    return { block, itsHeads };
  });
  const line = make(parent, "div", "course-live-line");
  const positions = makeCheck(line, "positions", true, (on) => set({ positions: on }));
  const mask = makeCheck(line, "mask: hide the future", masked, (on) => set({ masked: on }));
  makeButton(line, "As it was trained", () => set({ ...noChanges(data.sizes), means: chosen.changes.means }));
  // A block that is off has no heads.
  const show = () => {
    const { changes } = chosen;
    checks.forEach(({ block, itsHeads }, b) => {
      block.checked = !changes.blocks.includes(b);
      itsHeads.forEach((head, h) => {
        head.checked = block.checked && !changes.heads[b].includes(h);
        head.disabled = !block.checked;
      });
    });
    menu.selectedIndex = Number(means && !changes.means);
    positions.checked = changes.positions;
    mask.checked = changes.masked;
  };
  show();
  const cost = make(parent, "p", "course-live-note");
  const other = make(parent, "p");
  return (sight) => {
    other.textContent = tellHeldOut(data, sight.changes);
    other.hidden = !other.textContent;
    cost.textContent = tellCost(data, sight);
    if (masked && !sight.changes.masked) cost.textContent += UNMASKED;
  };
};
