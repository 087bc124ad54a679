// The reader's state in the fragment of an address: the text, whatever is not as the page begins, and the character that
// is followed: last, for mail and chats take a full stop at the end for their own.

/** @import { Chosen, ModelValues } from "../../types" */
import { begin, FOLDS, range } from "./chosen.js";
import { degrees, LARGEST_SEED, stepOf, TOP_P, whole } from "./sliders.js";
import { complain } from "./text.js";

const count = (/** @type {number[]} */ list) => list.map((index) => index + 1).join(" ");
const answer = (/** @type {boolean} */ yes) => (yes ? "yes" : "no");

/** @type {(chosen: Chosen) => Record<string, string>} */
const write = ({ text, model, selected, changes, sampling, block, head, open }) => ({
  live: text,
  model: String(model + 1),
  off: changes.heads.flatMap((heads, b) => heads.map((h) => `${b + 1}.${h + 1}`)).join(" "),
  without: count(changes.blocks),
  positions: answer(changes.positions),
  mask: answer(changes.masked),
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
export const makeLink = (chosen, data) => {
  /** @type {Record<string, string>} */
  const first = { ...write(begin(data, chosen.text, chosen.model)), live: "", model: "1", token: "" };
  const told = Object.entries(write(chosen)).filter(([name, value]) => value !== first[name]);
  return `${location.href.split("#")[0]}#${new URLSearchParams(told)}`;
};

export const isLink = (/** @type {string} */ fragment) => new URLSearchParams(fragment.slice(1)).has("live");

// What a fragment says, or null where it is no link, or damaged: then it would be written in another way.
/** @type {(fragment: string, data: ModelValues["data"]) => Chosen | null} */
export const readLink = (fragment, data) => {
  const said = Object.fromEntries(new URLSearchParams(fragment.slice(1)));
  const one = data.models[Number(said.model ?? 1) - 1];
  const temperature = said.temperature ?? "1";
  const hot = !/^[\d.]+$/.test(temperature) || !(Number(temperature) <= degrees(data.steps.high, data.steps));
  if (!one || hot || complain(said.live ?? "", data)) return null;
  const told = { ...write(begin(data, said.live, data.models.indexOf(one))), ...said };
  const listed = (/** @type {string} */ list, /** @type {number} */ size, before = "") =>
    range(size).filter((index) => list.split(" ").includes(`${before}${index + 1}`));
  const { blocks, heads } = one.sizes;
  const chosen = {
    text: told.live,
    typed: told.live,
    model: data.models.indexOf(one),
    selected: whole(told.token, 1, told.live.length) - 1,
    changes: {
      heads: range(blocks).map((block) => listed(told.off, heads, `${block + 1}.`)),
      blocks: listed(told.without, blocks),
      positions: told.positions === "yes",
      masked: told.mask === "yes",
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
  const sorted = (/** @type {string} */ list) => list.split(" ").sort().join(" ");
  return Object.keys(again).every((name) => sorted(told[name]) === sorted(again[name])) ? chosen : null;
};
