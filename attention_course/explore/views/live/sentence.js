// Where the reader types a sentence: the words that the translator knows, examples, and what is wrong.

/** @import { TranslatorData } from "../../types" */
import { make } from "../parts/dom.js";
import { makeButton } from "./controls.js";

// The words of a text; a capital is read as a small letter where that makes it a word.
/** @type {(data: TranslatorData, text: string) => string[]} */
export const splitWords = ({ words, end }, text) =>
  text.replaceAll(end, ` ${end} `).split(/\s+/).filter(Boolean).map((word) => {
    const small = word.toLowerCase();
    return !words.includes(word) && words.includes(small) ? small : word;
  });

/** @type {(data: TranslatorData, words: string[]) => string} */
const findFault = ({ words: known, limit }, words) => {
  const unknown = [...new Set(words)].filter((word) => !known.includes(word));
  if (unknown.length) return `The model does not know “${unknown.join("”, “")}”`;
  if (words.length > limit) return "The sentence is too long";
  return words.length ? "" : "The model needs at least one word";
};

// Hands over the words, or null where the model cannot read them.
/** @type {(parent: Element, data: TranslatorData, take: (words: string[] | null) => void) => void} */
export const makeSentence = (parent, data, take) => {
  const box = make(parent, "div", "course-live-text");
  const label = make(box, "label");
  make(label, "span", "", "Your sentence");
  const input = make(label, "input");
  [input.type, input.value, input.spellcheck] = ["text", data.text, false];
  [input.autocapitalize, input.autocomplete] = ["off", "off"];
  const said = make(box, "p", "course-live-note");
  said.setAttribute("role", "status");
  const check = () => {
    const words = splitWords(data, input.value);
    const fault = findFault(data, words);
    const open = words.includes(data.end) ? "" : `The sentences it has read end with “${data.end}”.`;
    input.setAttribute("aria-invalid", String(fault !== ""));
    said.textContent = `${words.length} of ${data.limit} words. ${fault ? fault + ": nothing below has changed." : open}`;
    take(fault ? null : words);
  };
  const set = (/** @type {string} */ text) => {
    input.value = text;
    check();
  };
  input.addEventListener("input", check);
  if (data.examples.length) {
    const choice = make(make(box, "label", "", "or an example "), "select");
    for (const text of [data.text, ...data.examples]) choice.add(new Option(text));
    choice.addEventListener("change", () => set(choice.value));
  }
  const fold = make(box, "details", "course-live-section");
  make(fold, "summary", "", `The ${data.words.length} words it knows`);
  const list = make(fold, "div", "course-live-words");
  makeButton(list, "clear the sentence", () => set(""));
  for (const word of data.words) makeButton(list, word, () => set(`${input.value} ${word}`.trim()));
  check();
};
