// What the reader can take out of the model, and what that costs.

/** @import { Changes, ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { makeCheck, without } from "./checks.js";
import { noChanges } from "./engine.js";

const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// What the text costs, beside the model as it was trained.
/** @type {(sight: Sight) => string} */
export const tellCost = ({ bits, intactBits }) => {
  if (!bits.length) return "A text of one character costs nothing: the model is given the first.";
  const [now, before] = [mean(bits), mean(intactBits)].map((cost) => cost.toFixed(2));
  return `After its first character your text costs ${now} bits a character; as the model was trained, ${before}.`;
};

/** @type {(parent: Element, data: ModelData, change: (changes: Changes) => void) => void} */
export const makeChanges = (parent, data, change) => {
  const { blocks, heads, masked } = data.sizes;
  let changes = noChanges(data.sizes);
  const set = (/** @type {Partial<Changes>} */ what) => change((changes = { ...changes, ...what }));
  const checks = Array.from({ length: blocks }, (_, b) => {
    const line = make(parent, "div", "course-live-line");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", `block ${b + 1}`);
    return [
      makeCheck(line, `block ${b + 1}`, true, (on) => set({ blocks: without(changes.blocks, b, on) })),
      ...Array.from({ length: heads }, (_, h) =>
        makeCheck(line, `head ${h + 1}`, true, (on) =>
          set({ heads: changes.heads.map((off, i) => (i === b ? without(off, h, on) : off)) }),
        ),
      ),
    ];
  });
  const line = make(parent, "div", "course-live-line");
  const positions = makeCheck(line, "positions", true, (on) => set({ positions: on }));
  const mask = makeCheck(line, "mask: hide the future", masked, (on) => set({ masked: on }));
  const restore = make(line, "button", "", "As it was trained");
  restore.type = "button";
  restore.addEventListener("click", () => {
    for (const input of [...checks.flat(), positions]) input.checked = true;
    mask.checked = masked;
    change((changes = noChanges(data.sizes)));
  });
};
