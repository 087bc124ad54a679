// The layers of a Transformer on flat arrays: row after row, one row a token.

/** @import { Matrix32 } from "../../types" */

// Each token times the rows of the weight, plus the bias, if there is one.
/** @type {(tokens: Float32Array, weight: Matrix32, bias?: Matrix32) => Float32Array} */
export const linear = (tokens, { rows, columns, values }, bias) => {
  const count = tokens.length / columns;
  const output = new Float32Array(count * rows);
  for (let token = 0; token < count; token++) {
    const from = token * columns;
    for (let row = 0; row < rows; row++) {
      const at = row * columns;
      let sum = bias?.values[row] ?? 0;
      for (let i = 0; i < columns; i++) sum += tokens[from + i] * values[at + i];
      output[token * rows + row] = sum;
    }
  }
  return output;
};

// Each token less its mean, over its standard deviation; then times the weight, plus the bias.
/** @type {(tokens: Float32Array, weight: Matrix32, bias: Matrix32, epsilon: number) => Float32Array} */
export const layerNorm = (tokens, weight, bias, epsilon) => {
  const width = weight.columns;
  const output = new Float32Array(tokens.length);
  for (let start = 0; start < tokens.length; start += width) {
    let [mean, variance] = [0, 0];
    for (let i = 0; i < width; i++) mean += tokens[start + i] / width;
    for (let i = 0; i < width; i++) variance += (tokens[start + i] - mean) ** 2 / width;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let i = 0; i < width; i++) {
      output[start + i] = (tokens[start + i] - mean) * scale * weight.values[i] + bias.values[i];
    }
  }
  return output;
};

// x times the share of a normal distribution below x; the error function to 1.5e-7 (Abramowitz & Stegun 7.1.26).
const POLYNOMIAL = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
export const gelu = (/** @type {Float32Array} */ hidden) =>
  hidden.map((x) => {
    const size = Math.abs(x) / Math.SQRT2;
    const t = 1 / (1 + 0.3275911 * size);
    const tail = POLYNOMIAL.reduce((sum, factor) => (sum + factor) * t, 0) * Math.exp(-size * size);
    return x * (x < 0 ? tail / 2 : 1 - tail / 2);
  });

// Each pair of neighbouring features of each head turned by an angle proportional to the token's position.
/** @type {(tokens: Float32Array, width: number, headWidth: number, start: number, base: number) => Float32Array} */
export const rotate = (tokens, width, headWidth, start, base) => {
  const output = new Float32Array(tokens.length);
  for (let i = 0; i < tokens.length; i += 2) {
    const position = start + Math.floor(i / width);
    const angle = position * base ** (-((i % width) % headWidth) / headWidth);
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    output[i] = tokens[i] * cosine - tokens[i + 1] * sine;
    output[i + 1] = tokens[i] * sine + tokens[i + 1] * cosine;
  }
  return output;
};

/** @type {(a: Float32Array, b: Float32Array) => Float32Array} */
export const add = (a, b) => a.map((value, i) => value + b[i]);

/** @type {(scores: ArrayLike<number>, temperature?: number) => Float32Array} */
export const softmax = (scores, temperature = 1) => {
  let largest = -Infinity;
  for (let i = 0; i < scores.length; i++) largest = Math.max(largest, scores[i]);
  const shares = new Float32Array(scores.length);
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += shares[i] = Math.exp((scores[i] - largest) / temperature);
  return shares.map((share) => share / sum);
};
