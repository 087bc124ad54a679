// Which symbol comes next: a distribution cut by temperature, top-k and top-p, and a draw from it.

/** @import { Sampling } from "../../types" */
import { softmax } from "./layers.js";

// The model's probabilities; and those left to draw from, likeliest first, until `topK` or until they make up `topP`.
/** @type {(logits: Float32Array, sampling: Sampling) => { probabilities: Float32Array, kept: number[], order: number[] }} */
export const cut = (logits, sampling) => {
  const { temperature, topK, topP } = sampling;
  if (!temperature) return cut(logits, { ...sampling, temperature: 1, topK: 1 }); // only the likeliest
  const probabilities = softmax(logits, temperature);
  const order = Array.from(probabilities.keys()).sort((a, b) => probabilities[b] - probabilities[a] || a - b);
  let count = 0;
  for (let sum = 0; count < Math.min(topK, order.length) && (!count || sum < topP || topP === 1); count++) {
    sum += probabilities[order[count]];
  }
  return { probabilities, kept: order.slice(0, count), order };
};

// A number from 0 to 1 for each place of each seed, so that what is taken back can be written again (splitmix32).
/** @type {(seed: number, place: number) => number} */
export const uniform = (seed, place) => {
  let state = (Math.imul(seed, 0x9e3779b9) + Math.imul(place + 1, 0x85ebca6b)) | 0;
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
};

/** @type {(logits: Float32Array, sampling: Sampling, place: number) => number} */
export const drawSymbol = (logits, sampling, place) => {
  const { probabilities, kept } = cut(logits, sampling);
  const total = kept.reduce((sum, symbol) => sum + probabilities[symbol], 0);
  let left = uniform(sampling.seed, place) * total;
  return kept.find((symbol) => (left -= probabilities[symbol]) < 0) ?? kept[kept.length - 1];
};
