// Where the reader types: the text, examples, and what is wrong with it.

/** @import { ModelData, ModelValues } from "../../types" */
import { make } from "../parts/dom.js";
import { makeMenu } from "./controls.js";

// A character as it can be seen.
export const visible = (/** @type {string} */ character) =>
  ({ " ": "␣", "\n": "⏎", "\t": "⇥" })[character] ?? character;

// What is wrong with a text; nothing, where nothing is.
/** @type {(text: string, data: Pick<ModelValues["data"], "vocabulary" | "limit">) => string} */
export const complain = (text, { vocabulary, limit }) => {
  const unknown = [...new Set(text)].filter((character) => !vocabulary.includes(character));
  const told = unknown.map((character) => `“${visible(character)}”`).join(", ");
  if (told) return `The model does not know ${told}`;
  if (text.length > limit) return "The text is too long";
  return text ? "" : "The model needs at least one character";
};

/** @type {(parent: Element, data: ModelData, take: (text: string | null) => void) => (text: string) => void} */
export const makeText = (parent, data, take) => {
  const box = make(parent, "div", "course-live-text");
  const label = make(box, "label");
  make(label, "span", "", "Your text");
  const area = make(label, "textarea");
  area.rows = 2;
  area.spellcheck = false;
  area.autocapitalize = "off";
  const said = make(box, "p", "course-live-note");
  said.setAttribute("role", "status");
  const examples = [data.text, ...data.examples];
  const menu = makeMenu(box, "or an example", ["none", ...examples.map((text) => text.replaceAll("\n", "⏎"))], (index) => {
    area.value = index ? examples[index - 1] : area.value;
    check();
  });
  // The menu shows the example that stands in the box, so that after other words it can be chosen again.
  const mark = () => (menu.selectedIndex = examples.indexOf(area.value) + 1);
  const check = () => {
    const text = area.value;
    const wrong = complain(text, data);
    mark();
    area.setAttribute("aria-invalid", String(wrong !== ""));
    said.textContent = `${text.length} of ${data.limit} characters. ${wrong && wrong + ": nothing below has changed."}`;
    take(wrong ? null : text);
  };
  area.addEventListener("input", check);
  return (text) => {
    if (area.value === text) return;
    area.value = text;
    mark();
    area.setAttribute("aria-invalid", "false");
    said.textContent = `${text.length} of ${data.limit} characters.`;
  };
};
