// Where the reader types: the text, examples, and what is wrong with it.

/** @import { ModelData, ModelValues } from "../../types" */
import { make, uniqueId } from "../parts/dom.js";
import { visible } from "./characters.js";
import { makeMenu } from "./controls.js";

const MOST_UNKNOWN = 5; // unknown characters, of which there may be thousands

// What is wrong with a text; nothing, where nothing is.
/** @type {(text: string, data: Pick<ModelValues["data"], "vocabulary">) => string} */
export const complain = (text, { vocabulary }) => {
  const unknown = [...new Set(text)].filter((character) => !vocabulary.includes(character));
  // Each between marks that keep its direction from its neighbours.
  const told = unknown.slice(0, MOST_UNKNOWN).map((character) => `“\u2068${visible(character)}\u2069”`);
  const more = unknown.length - MOST_UNKNOWN;
  if (more > 0) told.push(`and ${more.toLocaleString("en")} ${more > 1 ? "others" : "other"}`);
  if (told.length) return `The model does not know ${told.join(", ")}`;
  return text ? "" : "The model needs at least one character";
};

// Hands over what was typed, and as much of it as the model reads: its end, or nothing where it cannot be read. Returns
// what puts a text into the box.
/** @type {(parent: Element, data: ModelData, buttons: Element, take: (typed: string, text: string | null) => void) => (text: string) => void} */
export const makeText = (parent, data, buttons, take) => {
  const box = make(parent, "div", "course-live-text");
  const label = make(box, "label");
  make(label, "span", "", "Your text");
  const area = make(label, "textarea");
  area.rows = 2;
  area.spellcheck = false;
  area.autocapitalize = "off";
  box.append(buttons);
  const said = make(box, "p", "course-live-note");
  const count = make(said, "span");
  const fault = make(said, "span");
  fault.setAttribute("role", "status");
  fault.id = uniqueId("course-live-text-fault");
  area.setAttribute("aria-describedby", fault.id);
  const examples = [data.text, ...data.examples];
  const options = ["your own text", ...examples.map((text) => text.replaceAll("\n", "⏎"))];
  const menu = makeMenu(box, "or try", options, (index) => {
    area.value = index ? examples[index - 1] : area.value;
    check();
  });
  const readable = () => area.value.slice(-data.limit);
  // The menu shows the example that stands in the box, so that after other words it can be chosen again.
  const tell = () => {
    const text = area.value;
    const wrong = complain(readable(), data);
    menu.selectedIndex = examples.indexOf(text) + 1;
    area.setAttribute("aria-invalid", String(wrong !== ""));
    count.textContent = `${text.length.toLocaleString("en")} of ${data.limit} characters. `;
    const long = text.length > data.limit ? `The model reads the last ${data.limit}.` : "";
    const full = text.length === data.limit ? "The box is full: shorten the text to go on." : long;
    const now = wrong ? `${wrong}: nothing below has changed.` : full;
    if (fault.textContent !== now) fault.textContent = now;
    return wrong === "";
  };
  const check = () => {
    const fits = tell();
    take(area.value, fits ? readable() : null);
  };
  area.addEventListener("input", check);
  return (text) => {
    if (area.value !== text) {
      area.value = text;
      area.scrollTop = area.scrollHeight; // the end, where the model writes
    }
    tell();
  };
};
