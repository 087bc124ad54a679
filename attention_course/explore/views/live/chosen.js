// What the reader has chosen. It outlives a change of the model, and a link can carry it.

/** @import { Chosen, ModelSizes, ModelValues } from "../../types" */
import { noChanges } from "./engine.js";
import { range } from "./numbers.js";
import { degrees, stepOf } from "./sliders.js";

// The folds by their places in `open`.
export const FOLDS = {
  inside: "Look inside",
  sampling: "How the next character is drawn",
  heads: "Where all look: maps of the attention weights",
  follow: "Follow one character through the blocks",
  changes: "Take something out of the model",
};
const OPEN = [1, 2]; // once the first is
const TEMPERATURE = 1; // as in the first state, which is seen before the model has come

// As the page begins, with another text or another model where the reader has chosen one.
/** @type {(data: ModelValues["data"], text?: string, model?: number) => Chosen} */
export const begin = (data, text = data.text, model = 0) => {
  const { sizes } = data.models[model];
  const [block, head] = data.head ?? [sizes.blocks, 0];
  return {
    model,
    text,
    typed: text,
    selected: text.length - 1,
    changes: noChanges(sizes),
    sampling: { temperature: degrees(stepOf(TEMPERATURE, data.steps), data.steps), topK: data.vocabulary.length, topP: 1, seed: 0 },
    block: Math.min(block, sizes.blocks),
    head: Math.min(head, sizes.heads),
    open: OPEN,
  };
};

// What stays for another model. Its mask begins as it was trained.
/** @type {(chosen: Chosen, model: number, sizes: ModelSizes) => Chosen} */
export const refit = (chosen, model, { blocks, heads, masked, means }) => ({
  ...chosen,
  model,
  changes: {
    heads: range(blocks).map((block) => (chosen.changes.heads[block] ?? []).filter((head) => head < heads)),
    blocks: chosen.changes.blocks.filter((block) => block < blocks),
    positions: chosen.changes.positions,
    masked,
    means: chosen.changes.means && means,
  },
  block: Math.min(chosen.block, blocks),
  head: Math.min(chosen.head, heads),
});
