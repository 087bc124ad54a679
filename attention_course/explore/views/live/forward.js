// The course's CausalLanguageModel on one text, every intermediate result kept.

/** @import { BlockRun, Changes, Heads, ModelSizes, Parameters, Run, RunModel } from "../../types" */
import { add, gelu, layerNorm, linear, rotate, softmax } from "./layers.js";
import { append, countKept, extend } from "./past.js";

/** @type {(sizes: ModelSizes, parameters: Parameters) => RunModel} */
export const makeModel = (sizes, parameters) => {
  const { heads, keyHeads, headWidth, epsilon } = sizes;
  const width = heads * headWidth;
  const keyWidth = keyHeads * headWidth;
  // Where the keys and values begin that a head reads: neighbouring heads share where there are fewer.
  const shared = (/** @type {number} */ head) => Math.floor((head * keyHeads) / heads) * headWidth;
  /** @type {(name: string, tokens: Float32Array) => Float32Array} */
  const apply = (name, tokens) => linear(tokens, parameters[`${name}.weight`], parameters[`${name}.bias`]);
  /** @type {(name: string, tokens: Float32Array) => Float32Array} */
  const norm = (name, tokens) => layerNorm(tokens, parameters[`${name}.weight`], parameters[`${name}.bias`], epsilon);
  // What the model says where the stream ends.
  const read = (/** @type {Float32Array} */ stream) => apply("logits", norm("norm", stream));

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

  // For each head a row for each query, as long as the keys that it may attend to.
  /** @type {(query: Float32Array, key: Float32Array, start: number, masked: boolean) => Heads} */
  const compare = (query, key, start, masked) =>
    Array.from({ length: heads }, (_, head) =>
      Array.from({ length: query.length / width }, (_, token) => {
        const row = new Float32Array(masked ? start + token + 1 : key.length / keyWidth);
        const from = token * width + head * headWidth;
        for (let j = 0; j < row.length; j++) {
          const to = j * keyWidth + shared(head);
          let sum = 0;
          for (let i = 0; i < headWidth; i++) sum += query[from + i] * key[to + i];
          row[j] = sum / Math.sqrt(headWidth);
        }
        return row;
      }),
    );

  // Each head's blend of the values, side by side; zeros from a head that is off.
  /** @type {(weights: Heads, value: Float32Array, off: number[]) => Float32Array} */
  const blend = (weights, value, off) => {
    const output = new Float32Array(weights[0].length * width);
    weights.forEach((rows, head) => {
      if (off.includes(head)) return;
      rows.forEach((row, token) => {
        for (let i = 0; i < headWidth; i++) {
          let sum = 0;
          for (let j = 0; j < row.length; j++) sum += row[j] * value[j * keyWidth + shared(head) + i];
          output[token * width + head * headWidth + i] = sum;
        }
      });
    });
    return output;
  };

  // The tokens from `start` on; those before are known by their keys and values.
  /** @type {(index: number, tokens: Float32Array, start: number, changes: Changes, past?: BlockRun) => BlockRun} */
  const runBlock = (index, tokens, start, changes, past) => {
    const name = `blocks.${index}`;
    /** @type {(vectors: Float32Array, size: number) => Float32Array} */
    const turn = (vectors, size) =>
      sizes.base && changes.positions ? rotate(vectors, size, headWidth, start, sizes.base) : vectors;
    // A block that is left out adds nothing.
    const addition = (/** @type {Float32Array} */ update) => (changes.blocks.includes(index) ? update.fill(0) : update);

    const attentionNorm = norm(`${name}.attention_norm`, tokens);
    const query = apply(`${name}.attention.query_proj`, attentionNorm);
    const key = apply(`${name}.attention.key_proj`, attentionNorm);
    const value = apply(`${name}.attention.value_proj`, attentionNorm);
    const [turnedQuery, turnedKey] = [turn(query, width), turn(key, keyWidth)];
    const keys = append(past?.turnedKey, start * keyWidth, turnedKey);
    const scores = compare(turnedQuery, keys, start, changes.masked);
    const weights = scores.map((rows) => rows.map((row) => softmax(row)));
    const blended = blend(weights, append(past?.value, start * keyWidth, value), changes.heads[index]);
    const attended = addition(apply(`${name}.attention.out_proj`, blended));
    const middle = add(tokens, attended);

    const feedForwardNorm = norm(`${name}.feed_forward_norm`, middle);
    const hidden = apply(`${name}.feed_forward.0`, feedForwardNorm);
    const active = gelu(hidden);
    const fed = addition(apply(`${name}.feed_forward.2`, active));
    const stream = add(middle, fed);
    return { attentionNorm, query, key, value, turnedQuery, turnedKey, scores, weights, blended, attended, middle,
      feedForwardNorm, hidden, active, fed, stream };
  };

  // Pauses after each block, so that a page can do something else.
  return function* (symbols, changes, past) {
    const start = countKept(symbols, changes, past);
    const embedding = embed(symbols, start, changes.positions);
    /** @type {Run} */
    const run = { symbols, changes, embedding, blocks: [], lenses: [read(embedding)] };
    for (let index = 0, stream = embedding; index < sizes.blocks; index++) {
      const block = runBlock(index, stream, start, changes, past?.blocks[index]);
      stream = block.stream;
      run.blocks.push(block);
      run.lenses.push(read(stream));
      yield;
    }
    return start && past ? extend(past, start, run) : run;
  };
};
