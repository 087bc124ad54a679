// Where the reader types: the text, examples, and what is wrong with it.

/** @import { ModelData } from "../../types" */
import { make } from "../parts/dom.js";

// A character as it can be seen.
export const visible = (/** @type {string} */ character) =>
  ({ " ": "␣", "\n": "⏎", "\t": "⇥" })[character] ?? character;

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
  if (data.examples.length) {
    const choice = make(make(box, "label", "", "or an example "), "select");
    [data.text, ...data.examples].forEach((text) => choice.add(new Option(text.replaceAll("\n", "⏎"), text)));
    choice.addEventListener("change", () => {
      area.value = choice.value;
      check();
    });
  }
  const check = () => {
    const text = area.value;
    const unknown = [...new Set(text)].filter((character) => !data.vocabulary.includes(character));
    const told = unknown.map((character) => "“" + visible(character) + "”").join(", ");
    const wrong = unknown.length
      ? `The model does not know ${told}`
      : text.length > data.limit
        ? "The text is too long"
        : text
          ? ""
          : "The model needs at least one character";
    area.setAttribute("aria-invalid", String(wrong !== ""));
    said.textContent = `${text.length} of ${data.limit} characters. ${wrong && wrong + ": nothing below has changed."}`;
    take(wrong ? null : text);
  };
  area.addEventListener("input", check);
  return (text) => {
    if (area.value === text) return;
    area.value = text;
    area.setAttribute("aria-invalid", "false");
    said.textContent = `${text.length} of ${data.limit} characters.`;
  };
};
