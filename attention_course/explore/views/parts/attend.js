// The weights of one head: made from raw scores, under a mask and a temperature, or as Python hands them over.

/** @import { AttentionData, Grid, Mask, Packed, Row } from "../../types" */
/** @typedef {{ [index: number]: number }} Numbers */
/** @typedef {{ layer: number, head: number }} One */

const WEIGHT_STEPS = 4095;

// Weights of 12 bits each, two in three bytes: see attention_course/explore/packing.py.
const unpackWeights = (/** @type {Uint8Array} */ bytes) =>
  Float64Array.from({ length: (bytes.length / 3) * 2 }, (_, i) => {
    const start = 3 * (i >> 1);
    const step = i % 2 ? (bytes[start + 1] >> 4) | (bytes[start + 2] << 4) : bytes[start] | ((bytes[start + 1] & 15) << 8);
    return step / WEIGHT_STEPS;
  });

/** @type {(packed: Packed) => Numbers} */
const unpack = ({ bytes, dtype }) => {
  const all = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
  if (dtype === "uint12") return unpackWeights(all);
  return dtype === "float32" ? new Float32Array(all.buffer) : new Float64Array(all.buffer);
};

// Whether a query may attend to a key. Diagonals are aligned to the bottom right: the last query sees the last key.
/** @type {(data: AttentionData) => Record<Mask, (query: number, key: number) => boolean>} */
const rules = (data) => {
  /** @type {(query: number, key: number) => number} */
  const distance = (query, key) => query + data.offset - key;
  return {
    none: () => true,
    causal: (query, key) => distance(query, key) >= 0,
    padding: (query, key) => key < data.length,
    "sliding window": (query, key) => Math.abs(distance(query, key)) <= data.window,
  };
};

/** @type {(data: AttentionData, mask: Mask) => boolean[][]} */
export const whoMay = (data, mask) => {
  const may = rules(data)[mask];
  return data.queries.map((_, i) => data.keys.map((_, j) => may(i, j)));
};

// Softmax of one row of scores over the allowed keys; a query that may attend to nothing gets zeros.
/** @type {(scores: Numbers, start: number, allowed: Row<boolean>, temperature: number) => number[]} */
const softmax = (scores, start, allowed, temperature) => {
  let largest = -Infinity;
  allowed.forEach((may, key) => {
    if (may && scores[start + key] > largest) largest = scores[start + key];
  });
  const weights = allowed.map((may, key) => (may ? Math.exp((scores[start + key] - largest) / temperature) : 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return sum ? weights.map((weight) => weight / sum) : weights;
};

// For each of the models a function that returns the weights of one head.
/** @type {(data: AttentionData) => ((one: One, allowed: Grid<boolean>, temperature: number) => number[][])[]} */
export const makeAttend = (data) =>
  data.models.map((model) => {
    const numbers = unpack(model.numbers);
    const [n, m] = [data.queries.length, data.keys.length];
    const startOf = (/** @type {One} */ { layer, head }, /** @type {number} */ i) => ((layer * model.heads + head) * n + i) * m;
    if (model.numbers.dtype !== "uint12")
      return (one, allowed, temperature) => allowed.map((keys, i) => softmax(numbers, startOf(one, i), keys, temperature));
    /** @type {Record<number, number[][]>} */
    const known = {}; // weights that are given never change
    return (one) =>
      (known[startOf(one, 0)] ??= data.queries.map((_, i) =>
        Array.from({ length: m }, (_, j) => numbers[startOf(one, i) + j]),
      ));
  });
