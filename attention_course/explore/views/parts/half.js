// The parameters of a model that Python has rounded to 16 bits: see attention_course/support/float16_weights.py.

/** @import { Packed16, Parameters } from "../../types" */

const LARGEST = 65504; // of the numbers of 16 bits that are finite

// A number of 16 bits: sign, 5 bits of exponent, 10 of fraction. No weight is infinite or NaN.
export const fromHalf = (/** @type {number} */ bits) => {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction;
  return bits & 0x8000 ? -size : size;
};

// By the names that PyTorch gives them; a vector is one row. Throws where they are not all there, or one is no number.
/** @type {(packed: Packed16) => Parameters} */
export const unpackHalf = ({ weights, shapes }) => {
  const bytes = Uint8Array.from(atob(weights), (character) => character.charCodeAt(0));
  const all = Float32Array.from(new Uint16Array(bytes.buffer), fromHalf);
  const total = shapes.reduce((sum, [, rows, columns]) => sum + rows * columns, 0);
  if (all.length !== total || all.some((weight) => Math.abs(weight) > LARGEST)) throw new Error("damaged weights");
  let end = 0;
  return Object.fromEntries(
    shapes.map(([name, rows, columns]) => {
      const start = end;
      end += rows * columns;
      return [name, { rows, columns, values: all.subarray(start, end) }];
    }),
  );
};
