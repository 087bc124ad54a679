// The course's CausalLanguageModel on one text, every intermediate result kept.

/** @import { BlockRun, Changes, ModelSizes, Parameters, Run, RunModel } from "../../types" */
import { makeParts } from "./block.js";
import { rotate } from "./layers.js";
import { countKept, extend, extendBlock } from "./past.js";

/** @type {(sizes: ModelSizes, parameters: Parameters) => RunModel} */
export const makeModel = (sizes, parameters) => {
  const { heads, headWidth } = sizes;
  const width = heads * headWidth;
  const { apply, norm, attendToItself, feedForward } = makeParts(sizes, parameters);
  // What the model says where the stream ends.
  const read = (/** @type {Float32Array} */ stream) => apply("lm_head", norm("norm", stream));

  /** @type {(symbols: number[], start: number, positions: boolean) => Float32Array} */
  const embed = (symbols, start, positions) => {
    const places = positions ? parameters["positions.embedding.weight"] : undefined;
    const tokens = new Float32Array((symbols.length - start) * width);
    for (let i = 0; i < tokens.length; i++) {
      const [token, feature] = [start + Math.floor(i / width), i % width];
      tokens[i] = parameters["embedding.weight"].values[symbols[token] * width + feature];
      if (places) tokens[i] += places.values[token * width + feature];
    }
    return tokens;
  };

  // The tokens from `start` on; those before are known by their keys and values.
  /** @type {(index: number, tokens: Float32Array, start: number, changes: Changes, past?: BlockRun) => BlockRun} */
  const runBlock = (index, tokens, start, changes, past) => {
    const name = `blocks.${index}`;
    const out = changes.blocks.includes(index);
    const { masked, positions } = changes;
    const means = changes.means ? parameters[`${name}.means`].values : undefined;
    /** @type {(vectors: Float32Array, size: number) => Float32Array} */
    const turn = (vectors, size) =>
      sizes.base && positions ? rotate(vectors, size, headWidth, start, sizes.base) : vectors;
    const attended = attendToItself(name, tokens, { start, masked, out, off: changes.heads[index], means, turn, past });
    return { ...attended, ...feedForward(name, attended.middle, out) };
  };

  // Pauses after each block, so that a page can do something else.
  return function* (symbols, changes, past) {
    const kept = past && changes.masked && JSON.stringify(past.changes) === JSON.stringify(changes) ? past : null;
    const start = countKept(symbols, kept?.symbols);
    const embedding = embed(symbols, start, changes.positions);
    /** @type {Run} */
    const run = { symbols, changes, embedding, blocks: [], lenses: [read(embedding)] };
    for (let index = 0, stream = embedding; index < sizes.blocks; index++) {
      const block = runBlock(index, stream, start, changes, kept?.blocks[index]);
      stream = block.stream;
      run.blocks.push(block);
      run.lenses.push(read(stream));
      yield;
    }
    if (!start || !kept) return run;
    const share = start / kept.symbols.length;
    return {
      ...run,
      embedding: extend(kept.embedding, share, embedding),
      blocks: run.blocks.map((block, i) => extendBlock(kept.blocks[i], share, block)),
      lenses: run.lenses.map((lens, i) => extend(kept.lenses[i], share, lens)),
    };
  };
};
