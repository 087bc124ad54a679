// Where the reader types a sentence: the words that the translator knows, examples, and what is wrong.

/** @import { TranslatorData } from "../../types" */
import { make, uniqueId } from "../parts/dom.js";
import { codeOf } from "./characters.js";
import { makeButton, makeMenu } from "./controls.js";
import { moveInRows } from "./lists.js";

const MOST = 5; // unknown words that are named
const LONGEST = 30; // characters of one

// The words of a text, without other punctuation; a capital is read as a small letter where that makes it a word.
/** @type {(data: Pick<TranslatorData, "words" | "end">, text: string) => string[]} */
export const splitWords = ({ words, end }, text) =>
  text.replaceAll(end, ` ${end} `).split(/\s+/).map((word) => {
    if (words.includes(word)) return word;
    const bare = word.replace(/^\p{P}+|\p{P}+$/gu, "");
    const small = bare.toLowerCase();
    return !words.includes(bare) && words.includes(small) ? small : bare;
  }).filter(Boolean);

// A word as it can be seen: not too long, and a code where a character has no shape.
/** @type {(word: string) => string} */
export const showWord = (word) => {
  const characters = [...word].map((one) => (/[\p{C}\p{DI}]/u.test(one) ? codeOf(one) : one));
  return characters.slice(0, LONGEST).join("") + (characters.length > LONGEST ? "…" : "");
};

// What is wrong, and the unknown words to be named after it.
/** @type {(data: TranslatorData, words: string[]) => { fault: string, unknown: string[] }} */
export const findFault = ({ words: known, limit }, words) => {
  const unknown = [...new Set(words)].filter((word) => !known.includes(word));
  if (unknown.length) return { fault: "The model does not know ", unknown };
  if (words.length > limit) return { fault: "The sentence is too long", unknown };
  return { fault: words.length ? "" : "The model needs at least one word", unknown };
};

// Says it, each word apart from the direction of what stands beside it.
/** @type {(parent: Element, data: TranslatorData, words: string[]) => void} */
const tellFault = (parent, data, words) => {
  const { fault, unknown } = findFault(data, words);
  parent.textContent = fault;
  unknown.slice(0, MOST).forEach((word, i) => {
    parent.append(i ? "”, “" : "“");
    make(parent, "bdi", "", showWord(word));
  });
  const more = unknown.length - MOST;
  if (unknown.length) parent.append("”");
  if (more > 0) parent.append(` and ${more.toLocaleString("en")} ${more > 1 ? "others" : "other"}`);
  if (fault) parent.append(": nothing below has changed.");
};

// A sentence with one word more, before the end where it has one.
/** @type {(end: string, text: string, word: string) => string} */
export const addWord = (end, text, word) => {
  const trimmed = text.trim();
  const open = trimmed.endsWith(end) ? trimmed.slice(0, -end.length).trim() : trimmed;
  if (word === end) return open + end;
  return `${open} ${word}`.trim() + (open === trimmed ? "" : end);
};

// Hands over the words, or what is wrong with them, and the text that they are of; at once those of the first text.
/** @type {(parent: Element, data: TranslatorData, first: string, take: (words: string[], fault: string, text: string) => void) => void} */
export const makeSentence = (parent, data, first, take) => {
  const box = make(parent, "div", "course-live-text");
  const label = make(box, "label");
  make(label, "span", "", "Your sentence");
  const input = make(label, "input");
  [input.type, input.value, input.spellcheck] = ["text", first, false];
  [input.autocapitalize, input.autocomplete] = ["off", "off"];
  const count = make(box, "p", "course-live-note");
  const examples = [data.text, ...data.examples];
  const menu = makeMenu(box, "or try", ["your own sentence", ...examples], (index) => set(examples[index - 1] ?? input.value));
  const said = make(box, "p", "course-live-note course-live-fault");
  said.id = uniqueId("course-live-fault");
  input.setAttribute("aria-describedby", said.id);
  const check = () => {
    const words = splitWords(data, input.value);
    tellFault(said, data, words);
    const fault = said.textContent ?? "";
    const isOpen = !fault && !words.includes(data.end);
    count.textContent = `${words.length.toLocaleString("en")} of ${data.limit} words.`;
    if (isOpen) count.textContent += ` The sentences it has read end with “${data.end}”.`;
    input.setAttribute("aria-invalid", String(fault !== ""));
    // The menu shows the example that stands in the field, so that after other words it can be chosen again.
    menu.selectedIndex = examples.indexOf(input.value) + 1;
    take(words, fault, input.value);
  };
  const set = (/** @type {string} */ text) => {
    input.value = text;
    check();
  };
  input.addEventListener("input", check);
  const fold = make(box, "details", "course-live-section");
  make(fold, "summary", "", `The ${data.words.length} words it knows`);
  const list = make(fold, "div", "course-live-words");
  list.translate = false;
  makeButton(list, "clear the sentence", () => set("")).translate = true;
  for (const word of data.words) makeButton(list, word, () => set(addWord(data.end, input.value, word)));
  moveInRows(list)();
  check();
};
