// Mounts each explorer of a page: its view, given a small model in place of Jupyter's, and the browser's own controls.

/** @import { Control, Kind, Kinds, Model, Steps } from "../../types" */
/** @typedef {Model<Record<string, any>>} AnyModel */
import { make } from "../parts/dom.js";

// What a view knows of Jupyter's model.
/** @type {(values: Record<string, any>) => AnyModel} */
const makeModel = (values) => {
  /** @type {Record<string, Set<() => void>>} */
  const listeners = {};
  const of = (/** @type {string} */ event) => (listeners[event] ??= new Set());
  return {
    get: (name) => values[name],
    set: (name, value) => {
      if (values[name] === value) return;
      values[name] = value;
      for (const listener of [...of(`change:${name}`)]) listener();
    },
    on: (event, listener) => of(event).add(listener),
    off: (event, listener) => of(event).delete(listener),
    save_changes: () => {},
  };
};

/** @type {(label: HTMLElement, control: Control, steps: Steps) => HTMLInputElement | HTMLSelectElement} */
const makeInput = (label, control, steps) => {
  if (control.kind === "choice") {
    const select = make(label, "select");
    control.options.forEach((text, index) => select.add(new Option(text, String(index))));
    return select;
  }
  const input = make(label, "input");
  input.type = control.kind === "check" ? "checkbox" : "range";
  if (control.kind === "slider") [input.min, input.max, input.step] = ["0", String(control.options.length - 1), "1"];
  if (control.kind === "temperature") [input.min, input.max, input.step] = [String(steps.low), String(steps.high), "1"];
  return input;
};

/** @type {Kinds} */
const KINDS = {
  temperature: {
    read: (input, steps) => Math.max(0.05, 10 ** (Number(input.value) / steps.decade)),
    write: (input, value, steps) => (input.value = String(Math.round(Math.log10(value) * steps.decade))),
    say: (value) => String(Number(value.toPrecision(3))),
  },
  slider: {
    read: (input) => Number(input.value),
    write: (input, value) => (input.value = String(value)),
    say: (value, control) => control.options[value].replace(/^-(?=[\d.])/, "−"), // a minus sign, not a hyphen
  },
  choice: {
    read: (input) => Number(input.value),
    write: (input, value) => (input.value = String(value)),
  },
  check: {
    read: (input) => input.checked,
    write: (input, value) => (input.checked = value),
  },
};

/** @type {(controls: HTMLElement, control: Control, model: AnyModel, steps: Steps) => void} */
const addControl = (controls, control, model, steps) => {
  const box = make(controls, "div", "course-explorer-control");
  const label = make(box, "label");
  make(label, "span", "", control.label);
  const input = makeInput(label, control, steps);
  input.dataset.control = control.name;
  /** @type {Kind<any, any>} */
  const { read, write, say } = KINDS[control.kind];
  const output = say && make(box, "output");
  const show = () => {
    const value = model.get(control.trait);
    write(input, value, steps);
    if (!output) return;
    output.textContent = say(value, control);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => model.set(control.trait, read(input, steps)));
  model.on(`change:${control.trait}`, show);
  show();
};

const mount = (/** @type {HTMLElement} */ box) => {
  const { values, controls, steps } = JSON.parse(/** @type {HTMLElement} */ (box.querySelector("script")).textContent);
  const model = makeModel(values);
  const panel = make(box, "div", "course-explorer-controls");
  for (const control of controls) addControl(panel, control, model, steps);
  const name = String(box.dataset.view);
  const view = views[name] ?? globalThis.courseLiveViews?.[name];
  if (!view) throw new Error(`there is no view ${name}`); // its script has not arrived
  view.render({ model, el: box });
  // What has yet to load is shown in place of the first state once it is there.
  if (!box.querySelector("[aria-busy=true]")) box.querySelector(".course-explorer-first")?.remove();
};

// One that cannot start keeps its first state, and leaves the page's others as they are.
for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".course-explorer"))) {
  try {
    mount(box);
  } catch (error) {
    for (const part of [...box.children]) if (!part.matches(".course-explorer-first, script")) part.remove();
    make(box, "p", "course-explorer-fault", "What moves here could not be started: you see how it begins.");
    console.error(error);
  }
}
