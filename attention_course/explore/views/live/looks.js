// What the chosen character looks at, on the text itself: the more of a character is blue, the more it is looked at.

/** @import { Looks } from "../../types" */
/** @import { Place, Sizes } from "./chooser.js" */
import { listShown } from "./chooser.js";
import { mostSeen } from "./numbers.js";

const MOST_TOLD = 3;

// The chosen query's weight on each key; of several heads the mean.
/** @type {(looks: Looks, shown: Place[], query: number) => number[]} */
export const meanRow = ({ keys, weights }, shown, query) =>
  keys.map((_, key) => shown.reduce((sum, { block, head }) => sum + (weights[block][head][query][key] ?? 0), 0) / shown.length);

/** @type {(chosen: Place, off: boolean) => string} */
const tellPlace = ({ block, head }, off) => {
  if (block && head) return `In block ${block}, head ${head}${off ? ", which is off" : ""},`;
  const where = block ? `the heads of block ${block}` : head ? `head ${head} of each block` : "all heads";
  return `On average over ${where},`;
};

// What a key is called beside its query.
/** @type {(name: string, back: number) => string} */
const tellKey = (name, back) => {
  if (!back) return "itself";
  return `“${name}” (${Math.abs(back)}\u00a0${back > 0 ? "back" : "ahead"})`;
};

// In words; `names` are those of the characters, for the eye or for the ear.
/** @type {(looks: Looks, sizes: Sizes, chosen: Place, query: number, names: string[]) => string} */
export const tellLooks = (looks, sizes, chosen, query, names) => {
  const shown = listShown(sizes, chosen);
  const row = meanRow(looks, shown, query);
  const told = mostSeen(row, MOST_TOLD).map((key) => `${tellKey(names[key], query - key)}\u00a0${Math.round(100 * row[key])}%`);
  const off = shown.length === 1 && looks.isOff(shown[0].block, shown[0].head);
  return `${tellPlace(chosen, off)} “${names[query]}” looks at ${told.join(", ")}.`;
};
