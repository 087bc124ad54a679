// The reader's state in the fragment of an address: the sentence, what is written, whatever is not as the page begins,
// and the chosen word: last, for mail and chats take a full stop at the end for their own.

/** @import { Translating, TranslatorData } from "../../types" */
import { addressOf, count, countHeads, isWhole, listed, listHeads, readFragment } from "./fragment.js";
import { whole } from "./numbers.js";
import { findFault, splitWords } from "./sentence.js";

export const KEY = "translate";

/** @type {(state: Translating, vocabulary: string[]) => Record<string, string>} */
const tellState = ({ text, written, forced, selected, changes, block, head }, vocabulary) => ({
  [KEY]: text,
  written: written.map((symbol) => vocabulary[symbol]).join(" "),
  forced: count(forced),
  off: countHeads(changes.heads),
  encoder: count(changes.encoder),
  decoder: count(changes.decoder),
  block: String(block),
  head: String(head),
  word: String(selected + 1),
});

/** @type {(data: TranslatorData) => Record<string, string>} */
const atFirst = ({ sizes }) => {
  const nothing = { forced: "", off: "", encoder: "", decoder: "" };
  return { ...nothing, block: String(sizes.blocks), head: "0" };
};

/** @type {(state: Translating, data: TranslatorData) => string} */
export const makeLink = (state, data) => addressOf(tellState(state, data.vocabulary), atFirst(data));

// Whether nothing may follow what is written.
/** @type {(written: number[], data: TranslatorData) => boolean} */
export const isDone = (written, { vocabulary, end, limit }) =>
  written[written.length - 1] === vocabulary.indexOf(end) || written.length >= limit;

// What a fragment says, or null where it is damaged: then it would be written in another way.
/** @type {(fragment: string, data: TranslatorData) => Translating | null} */
export const readLink = (fragment, data) => {
  const told = { ...atFirst(data), ...readFragment(fragment) };
  const { vocabulary, sizes } = data;
  if (findFault(data, splitWords(data, told[KEY])).fault || told.written === undefined) return null;
  const symbols = told.written.split(" ").filter(Boolean).map((word) => vocabulary.indexOf(word));
  const written = symbols.filter((_, i) => !isDone(symbols.slice(0, i), data));
  const state = {
    text: told[KEY],
    written,
    forced: listed(told.forced, written.length),
    selected: whole(told.word, 1, written.length + (isDone(written, data) ? 0 : 1)) - 1,
    changes: {
      heads: listHeads(told.off, sizes),
      encoder: listed(told.encoder, sizes.blocks),
      decoder: listed(told.decoder, sizes.blocks),
    },
    block: whole(told.block, 0, sizes.blocks),
    head: whole(told.head, 0, sizes.heads),
  };
  return isWhole(told, tellState(state, vocabulary)) ? state : null;
};
