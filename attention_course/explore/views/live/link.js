// The reader's state in the fragment of an address: the text, whatever is not as the page begins, and the character that
// is followed: last, for mail and chats take a full stop at the end for their own.

/** @import { Chosen, ModelValues } from "../../types" */
import { begin, FOLDS } from "./chosen.js";
import { addressOf, count, countHeads, isWhole, listed, listHeads, readFragment } from "./fragment.js";
import { whole } from "./numbers.js";
import { degrees, LARGEST_SEED, stepOf, TOP_P } from "./sliders.js";
import { complain } from "./text.js";

export const KEY = "live";
const answer = (/** @type {boolean} */ yes) => (yes ? "yes" : "no");

/** @type {(chosen: Chosen) => Record<string, string>} */
const write = ({ text, model, selected, changes, sampling, block, head, open }) => ({
  [KEY]: text,
  model: String(model + 1),
  off: countHeads(changes.heads),
  without: count(changes.blocks),
  positions: answer(changes.positions),
  mask: answer(changes.masked),
  instead: changes.means ? "means" : "zeros",
  temperature: String(Number(sampling.temperature.toPrecision(3))),
  "top-k": String(sampling.topK),
  "top-p": String(sampling.topP),
  seed: String(sampling.seed),
  block: String(block),
  head: String(head),
  open: count(open),
  token: String(selected + 1),
});

/** @type {(chosen: Chosen, data: ModelValues["data"]) => string} */
export const makeLink = (chosen, data) =>
  addressOf(write(chosen), { ...write(begin(data, chosen.text, chosen.model)), [KEY]: "", model: "1", token: "" });

// What a fragment says, or null where it is damaged: then it would be written in another way.
/** @type {(fragment: string, data: ModelValues["data"]) => Chosen | null} */
export const readLink = (fragment, data) => {
  const said = readFragment(fragment);
  const one = data.models[Number(said.model ?? 1) - 1];
  const temperature = said.temperature ?? "1";
  const hot = !/^[\d.]+$/.test(temperature) || !(Number(temperature) <= degrees(data.steps.high, data.steps));
  const text = said[KEY] ?? "";
  if (!one || hot || text.length > data.limit || complain(text, data)) return null;
  const told = { ...write(begin(data, text, data.models.indexOf(one))), ...said };
  const { blocks, heads } = one.sizes;
  const chosen = {
    text: told[KEY],
    typed: told[KEY],
    model: data.models.indexOf(one),
    selected: whole(told.token, 1, told[KEY].length) - 1,
    changes: {
      heads: listHeads(told.off, one.sizes),
      blocks: listed(told.without, blocks),
      positions: told.positions === "yes",
      masked: told.mask === "yes",
      means: one.sizes.means && told.instead === "means",
    },
    sampling: {
      temperature: degrees(stepOf(Number(told.temperature), data.steps), data.steps),
      topK: whole(told["top-k"], 1, data.vocabulary.length),
      topP: TOP_P.find((share) => String(share) === told["top-p"]) ?? 1,
      seed: whole(told.seed, 0, LARGEST_SEED),
    },
    block: whole(told.block, 0, blocks),
    head: whole(told.head, 0, heads),
    open: listed(told.open, Object.keys(FOLDS).length),
  };
  const again = write(chosen);
  told.temperature = again.temperature; // the slider's nearest
  return isWhole(told, again) ? chosen : null;
};
