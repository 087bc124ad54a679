// The cache: with the future hidden, the tokens before need not be computed again.

// The first numbers of what there was, then what is new.
/** @type {(before: Float32Array | undefined, kept: number, fresh: Float32Array) => Float32Array} */
export const append = (before, kept, fresh) => {
  if (!before || !kept) return fresh;
  const all = new Float32Array(kept + fresh.length);
  all.set(before.subarray(0, kept));
  all.set(fresh, kept);
  return all;
};

// How many tokens an earlier run has computed already: those of the common beginning.
/** @type {(symbols: number[], before?: number[]) => number} */
export const countKept = (symbols, before) => {
  if (!before) return 0;
  const differs = symbols.findIndex((symbol, i) => symbol !== before[i]);
  return differs < 0 ? symbols.length : differs;
};

// The first share of an earlier run's vectors, then those of the next.
/** @type {(before: Float32Array, share: number, after: Float32Array) => Float32Array} */
export const extend = (before, share, after) => append(before, Math.round(before.length * share), after);

// The same for all that a block has computed: vectors, and for each head a row for each token.
/** @type {<Block extends Record<string, Float32Array | Float32Array[][]>>(before: Block, share: number, after: Block) => Block} */
export const extendBlock = (before, share, after) => {
  const extended = Object.keys(after).map((name) => {
    const [old, recent] = [before[name], after[name]];
    if (old instanceof Float32Array) return [name, extend(old, share, /** @type {Float32Array} */ (recent))];
    const heads = /** @type {Float32Array[][]} */ (recent);
    return [name, heads.map((rows, head) => [...old[head].slice(0, Math.round(old[head].length * share)), ...rows])];
  });
  return Object.fromEntries(extended);
};
