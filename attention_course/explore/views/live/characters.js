// Characters as they can be seen and heard.

// One that has no look of its own, by its number.
/** @type {(character: string) => string} */
export const codeOf = (character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;

/** @type {(character: string) => string} */
export const visible = (character) => {
  const sign = { " ": "␣", "\n": "⏎", "\t": "⇥" }[character];
  return sign ?? (/^[\p{C}\p{M}\p{Z}]/u.test(character) ? codeOf(character) : character);
};

// The same for the ear.
/** @type {(character: string) => string} */
export const nameOf = (character) => ({ " ": "space", "\n": "new line", "\t": "tab" })[character] ?? visible(character);
