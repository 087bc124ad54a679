// Small things about whole numbers.

// No Math.trunc here or elsewhere: the site's minifier makes it `| 0`, which keeps 32 bits.
// The whole number nearest below what a field says, between two bounds; the lower one where it says none.
/** @type {(text: string, low: number, high: number) => number} */
export const whole = (text, low, high) => Math.min(high, Math.max(low, Math.floor(Number(text)) || 0));

// The places of the largest numbers, largest first.
/** @type {(row: number[], count: number) => number[]} */
export const strongest = (row, count) => Array.from(row.keys()).sort((a, b) => row[b] - row[a]).slice(0, count);

const FAINT = 0.005; // what would be told as 0.00 or 0%

// The same, without what is as good as nothing; the largest stays.
/** @type {typeof strongest} */
export const mostSeen = (row, count) => strongest(row, count).filter((place, i) => !i || row[place] >= FAINT);

export const range = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);
