// What the reader can take out of the model, and what that costs.

/** @import { Changes, Chosen, ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { makeCheck, without } from "./checkboxes.js";
import { makeButton } from "./controls.js";
import { noChanges } from "./engine.js";
import { range } from "./numbers.js";

const WHAT_OFF_MEANS = "Untick a part to switch it off: a head then hands over zeros (not its mean), and a block adds nothing.";
const UNMASKED = " The model was trained with the mask, and has not learned what to do with later characters.";

const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// What the text costs, beside the model as it was trained.
/** @type {(data: ModelData, sight: Sight) => string} */
export const tellCost = ({ sizes }, { bits, intactBits, changes }) => {
  if (!bits.length) return "The first character has no surprise: it is given to the model.";
  const [now, before] = [mean(bits), mean(intactBits)].map((cost) => cost.toFixed(2));
  const among = 2 ** mean(bits);
  const like = `like guessing among ${among.toFixed(among < 10 ? 1 : 0)}`;
  const intact = JSON.stringify(changes) === JSON.stringify(noChanges(sizes));
  const beside = intact ? "" : `; as the model was trained, ${before}`;
  return `Average surprise: ${now} bits a character, ${like}${beside}.`;
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
  const set = (/** @type {Partial<Chosen["changes"]>} */ what) => {
    chosen.changes = { ...chosen.changes, ...what };
    show();
    change();
  };
  make(parent, "p", "", WHAT_OFF_MEANS);
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
  makeButton(line, "As it was trained", () => set(noChanges(data.sizes)));
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
    positions.checked = changes.positions;
    mask.checked = changes.masked;
  };
  show();
  const cost = make(parent, "p", "course-live-note");
  return (sight) => {
    cost.textContent = tellCost(data, sight);
    if (masked && !sight.changes.masked) cost.textContent += UNMASKED;
  };
};
