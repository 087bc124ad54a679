// The translator with what its view asks of it: a translation, changed as the reader likes, beside the intact model's.

/** @import { MakeEngine, TranslationQuestion, TranslationRun, TranslationSight, TranslatorChanges, TranslatorSizes } from "../../types" */
import { unpackHalf } from "../parts/half.js";
import { makeTranslator } from "./encoder_decoder.js";

/** @type {(sizes: { blocks: number }) => TranslatorChanges} */
export const noTranslatorChanges = ({ blocks }) => ({
  heads: Array.from({ length: blocks }, () => []),
  encoder: [],
  decoder: [],
});

/** @type {MakeEngine<TranslatorSizes, TranslationQuestion, TranslationSight>} */
export const makeTranslationEngine = (sizes, packed) => {
  const model = makeTranslator(sizes, unpackHalf(packed));
  const none = noTranslatorChanges(sizes);
  /** @type {TranslationRun | null} */
  let intact = null;
  /** @type {TranslationRun | null} */
  let changed = null;
  return function* ({ source, written, done, changes }) {
    const previous = [sizes.start, ...(done ? written.slice(0, -1) : written)];
    intact = yield* model(source, previous, none, intact);
    const isIntact = JSON.stringify(changes) === JSON.stringify(none);
    if (!isIntact) changed = yield* model(source, previous, changes, changed);
    const run = isIntact || !changed ? intact : changed;
    const weights = run.blocks.map((block) => block.crossWeights);
    return { source, written, changes, weights, logits: run.logits, intactLogits: intact.logits };
  };
};
