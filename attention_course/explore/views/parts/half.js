// The parameters of a model that Python has rounded to 16 bits: see attention_course/half.py.

/** @import { Packed16, Parameters } from "../../types" */

// A number of 16 bits: sign, 5 bits of exponent, 10 of fraction. No weight is infinite or NaN.
export const fromHalf = (/** @type {number} */ bits) => {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction;
  return bits & 0x8000 ? -size : size;
};

// By the names that PyTorch gives them; a vector is one row.
/** @type {(packed: Packed16) => Parameters} */
export const unpackHalf = ({ weights, shapes }) => {
  const bytes = Uint8Array.from(atob(weights), (character) => character.charCodeAt(0));
  const all = Float32Array.from(new Uint16Array(bytes.buffer), fromHalf);
  let end = 0;
  return Object.fromEntries(
    shapes.map(([name, rows, columns]) => {
      const start = end;
      end += rows * columns;
      return [name, { rows, columns, values: all.subarray(start, end) }];
    }),
  );
};
