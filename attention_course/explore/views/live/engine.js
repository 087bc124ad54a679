// The model with what a view asks of it: a text, changed as the reader likes, beside the intact model.

/** @import { Changes, MakeEngine, ModelSizes, Question, Run, Sight } from "../../types" */
import { unpackHalf } from "../parts/half.js";
import { makeModel } from "./forward.js";
import { softmax } from "./layers.js";

/** @type {(sizes: ModelSizes) => Changes} */
export const noChanges = (sizes) => ({
  heads: Array.from({ length: sizes.blocks }, () => []),
  blocks: [],
  positions: true,
  masked: sizes.masked,
  means: sizes.means,
});

// Whether nothing is off.
/** @type {(sizes: ModelSizes, changes: Changes) => boolean} */
export const isIntact = (sizes, changes) =>
  JSON.stringify({ ...changes, means: sizes.means }) === JSON.stringify(noChanges(sizes));

// The length of each token's vector.
/** @type {(vectors: Float32Array, n: number) => number[]} */
const lengths = (vectors, n) =>
  Array.from({ length: n }, (_, token) => {
    const width = vectors.length / n;
    return Math.hypot(...vectors.subarray(token * width, (token + 1) * width));
  });

// What each symbol but the first cost the model, which had read those before it.
/** @type {(run: Run) => number[]} */
const costs = ({ symbols, lenses }) => {
  const logits = lenses[lenses.length - 1];
  const size = logits.length / symbols.length;
  return symbols.slice(1).map((symbol, i) => -Math.log2(softmax(logits.subarray(i * size, (i + 1) * size))[symbol]));
};

/** @type {(run: Run, intact: Run) => Sight} */
const look = (run, intact) => {
  const n = run.symbols.length;
  return {
    symbols: run.symbols,
    changes: run.changes,
    weights: run.blocks.map((block) => block.weights),
    additions: run.blocks.map(({ attended, fed }) => ({ attended: lengths(attended, n), fed: lengths(fed, n) })),
    streams: [run.embedding, ...run.blocks.map(({ stream }) => stream)].map((stream) => lengths(stream, n)),
    lenses: run.lenses,
    bits: costs(run),
    intactBits: costs(intact),
  };
};

/** @type {MakeEngine<ModelSizes, Question, Sight>} */
export const makeEngine = (sizes, packed) => {
  const model = makeModel(sizes, unpackHalf(packed));
  const none = noChanges(sizes);
  /** @type {Run | null} */
  let intact = null;
  /** @type {Run | null} */
  let changed = null;
  return function* ({ symbols, changes }) {
    intact = yield* model(symbols, none, intact);
    if (isIntact(sizes, changes)) return { ...look(intact, intact), changes };
    changed = yield* model(symbols, changes, changed);
    return look(changed, intact);
  };
};
