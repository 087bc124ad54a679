// The parts of a Transformer's block, every intermediate result kept: for language models, encoders and decoders alike.

/** @import { Attend, AttentionSizes, Parts, Parameters } from "../../types" */
import { add, gelu, layerNorm, linear, softmax } from "./layers.js";
import { append } from "./past.js";

/** @type {(sizes: AttentionSizes) => Attend} */
const makeAttention = ({ heads, keyHeads, headWidth }) => {
  const width = heads * headWidth;
  const keyWidth = keyHeads * headWidth;
  // Where the keys and values begin that a head reads: neighbouring heads share where there are fewer.
  const shared = (/** @type {number} */ head) => Math.floor((head * keyHeads) / heads) * headWidth;

  // For each head a row for each query, as long as the keys that it may attend to: `first` for the first query and one
  // more for each that follows, or all of them.
  /** @type {(query: Float32Array, key: Float32Array, first: number) => Float32Array[][]} */
  const compare = (query, key, first) =>
    Array.from({ length: heads }, (_, head) =>
      Array.from({ length: query.length / width }, (_, token) => {
        const row = new Float32Array(Math.min(first + token, key.length / keyWidth));
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

  // Each head's blend of the values, side by side; from a head that is off its mean, or zeros.
  /** @type {(weights: Float32Array[][], value: Float32Array, off: number[], means?: Float32Array) => Float32Array} */
  const blend = (weights, value, off, means = new Float32Array(width)) => {
    const output = new Float32Array(weights[0].length * width);
    weights.forEach((rows, head) => {
      const from = head * headWidth;
      const instead = off.includes(head) && means.subarray(from, from + headWidth);
      rows.forEach((row, token) => {
        if (instead) return output.set(instead, token * width + from);
        for (let i = 0; i < headWidth; i++) {
          let sum = 0;
          for (let j = 0; j < row.length; j++) sum += row[j] * value[j * keyWidth + shared(head) + i];
          output[token * width + from + i] = sum;
        }
      });
    });
    return output;
  };

  return (query, key, value, first, off, means) => {
    const scores = compare(query, key, first);
    const weights = scores.map((rows) => rows.map((row) => softmax(row)));
    return { scores, weights, blended: blend(weights, value, off, means) };
  };
};

/** @type {(sizes: AttentionSizes, parameters: Parameters) => Parts} */
export const makeParts = (sizes, parameters) => {
  const attend = makeAttention(sizes);
  const [width, keyWidth] = [sizes.heads, sizes.keyHeads].map((count) => count * sizes.headWidth);
  /** @type {Parts["apply"]} */
  const apply = (name, tokens) => linear(tokens, parameters[`${name}.weight`], parameters[`${name}.bias`]);
  /** @type {Parts["norm"]} */
  const norm = (name, tokens) =>
    layerNorm(tokens, parameters[`${name}.weight`], parameters[`${name}.bias`], sizes.epsilon);
  // A block that is left out adds nothing.
  /** @type {(name: string, tokens: Float32Array, out: boolean) => Float32Array} */
  const addition = (name, tokens, out) => (out ? apply(name, tokens).fill(0) : apply(name, tokens));

  // The tokens from `start` on; those before are known by their keys and values.
  /** @type {Parts["attendToItself"]} */
  const attendToItself = (name, tokens, { start, masked, out, off = [], means, turn = (vectors) => vectors, past }) => {
    const attentionNorm = norm(`${name}.attention_norm`, tokens);
    const query = apply(`${name}.attention.query_proj`, attentionNorm);
    const key = apply(`${name}.attention.key_proj`, attentionNorm);
    const value = apply(`${name}.attention.value_proj`, attentionNorm);
    const [turnedQuery, turnedKey] = [turn(query, width), turn(key, keyWidth)];
    const keys = append(past?.turnedKey, start * keyWidth, turnedKey);
    const values = append(past?.value, start * keyWidth, value);
    const seen = attend(turnedQuery, keys, values, masked ? start + 1 : Infinity, off, means);
    const attended = addition(`${name}.attention.out_proj`, seen.blended, out);
    const middle = add(tokens, attended);
    return { attentionNorm, query, key, value, turnedQuery, turnedKey, ...seen, attended, middle };
  };

  // The memory's keys and values are the same for every token that is written.
  /** @type {Parts["readMemory"]} */
  const readMemory = (name, memory) => ({
    key: apply(`${name}.cross_attention.key_proj`, memory),
    value: apply(`${name}.cross_attention.value_proj`, memory),
  });

  /** @type {Parts["attendToMemory"]} */
  const attendToMemory = (name, tokens, { key, value }, { out, off }) => {
    const crossNorm = norm(`${name}.cross_attention_norm`, tokens);
    const crossQuery = apply(`${name}.cross_attention.query_proj`, crossNorm);
    const { scores, weights, blended } = attend(crossQuery, key, value, Infinity, off);
    const crossed = addition(`${name}.cross_attention.out_proj`, blended, out);
    return { crossNorm, crossQuery, crossScores: scores, crossWeights: weights, crossBlended: blended, crossed,
      afterCross: add(tokens, crossed) };
  };

  /** @type {Parts["feedForward"]} */
  const feedForward = (name, tokens, out) => {
    const feedForwardNorm = norm(`${name}.feed_forward_norm`, tokens);
    const hidden = apply(`${name}.feed_forward.0`, feedForwardNorm);
    const active = gelu(hidden);
    const fed = addition(`${name}.feed_forward.2`, active, out);
    return { feedForwardNorm, hidden, active, fed, stream: add(tokens, fed) };
  };
  return { apply, norm, attendToItself, readMemory, attendToMemory, feedForward };
};
