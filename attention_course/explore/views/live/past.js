// The cache: with the future hidden, the tokens before need not be computed again.

/** @import { BlockRun, Changes, Run } from "../../types" */

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
/** @type {(symbols: number[], changes: Changes, past: Run | null) => number} */
export const countKept = (symbols, changes, past) => {
  if (!past || !changes.masked || JSON.stringify(past.changes) !== JSON.stringify(changes)) return 0;
  const differs = symbols.findIndex((symbol, i) => symbol !== past.symbols[i]);
  return differs < 0 ? symbols.length : differs;
};

// The first `start` tokens of a run, then those of the next.
/** @type {(past: Run, start: number, fresh: Run) => Run} */
export const extend = (past, start, fresh) => {
  const share = start / past.symbols.length;
  /** @type {(before: Float32Array, after: Float32Array) => Float32Array} */
  const flat = (before, after) => append(before, before.length * share, after);
  /** @type {(before: BlockRun, after: BlockRun) => BlockRun} */
  const block = (before, after) => {
    const rows = (/** @type {"scores" | "weights"} */ name) =>
      after[name].map((head, i) => [...before[name][i].slice(0, start), ...head]);
    const names = /** @type {(keyof typeof after)[]} */ (Object.keys(after));
    const vectors = names.map((name) => {
      const [old, recent] = [before[name], after[name]];
      return [name, old instanceof Float32Array && recent instanceof Float32Array ? flat(old, recent) : null];
    });
    return { ...Object.fromEntries(vectors), scores: rows("scores"), weights: rows("weights") };
  };
  return {
    ...fresh,
    embedding: flat(past.embedding, fresh.embedding),
    blocks: fresh.blocks.map((after, i) => block(past.blocks[i], after)),
    lenses: fresh.lenses.map((after, i) => flat(past.lenses[i], after)),
  };
};
