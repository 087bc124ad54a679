// Mounts each explorer of a page: its view, given a small model in place of Jupyter's, and the browser's own controls.

// What a view knows of Jupyter's model.
const makeModel = (values) => {
  const listeners = new Map();
  const of = (event) => listeners.get(event) ?? listeners.set(event, new Set()).get(event);
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

const add = (parent, tag, name = "") => {
  const element = document.createElement(tag);
  element.className = name;
  parent.append(element);
  return element;
};

const makeInput = (label, control, steps) => {
  if (control.kind === "choice") {
    const select = add(label, "select");
    control.options.forEach((text, index) => select.add(new Option(text, index)));
    return select;
  }
  const input = add(label, "input");
  input.type = control.kind === "check" ? "checkbox" : "range";
  if (control.kind === "slider") [input.min, input.max, input.step] = [0, control.options.length - 1, 1];
  if (control.kind === "temperature") [input.min, input.max, input.step] = [steps.low, steps.high, 1];
  return input;
};

// How a control's position becomes the model's value, and back, and what its output says.
const KINDS = {
  temperature: {
    read: (input, steps) => Math.max(0.05, 10 ** (input.value / steps.decade)),
    write: (input, value, steps) => (input.value = Math.round(Math.log10(value) * steps.decade)),
    say: (value) => String(Number(value.toPrecision(3))),
  },
  slider: {
    read: (input) => Number(input.value),
    write: (input, value) => (input.value = value),
    say: (value, control) => control.options[value],
  },
  choice: {
    read: (input) => Number(input.value),
    write: (input, value) => (input.value = value),
  },
  check: {
    read: (input) => input.checked,
    write: (input, value) => (input.checked = value),
  },
};

const addControl = (controls, control, model, steps) => {
  const box = add(controls, "div", "course-explorer-control");
  const label = add(box, "label");
  add(label, "span").textContent = control.label;
  const input = makeInput(label, control, steps);
  input.dataset.control = control.name;
  const { read, write, say } = KINDS[control.kind];
  const output = say && add(box, "output");
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

for (const box of document.querySelectorAll(".course-explorer")) {
  const { values, controls, steps } = JSON.parse(box.querySelector("script").textContent);
  const model = makeModel(values);
  const panel = add(box, "div", "course-explorer-controls");
  for (const control of controls) addControl(panel, control, model, steps);
  box.querySelector(".course-explorer-first").remove();
  views[box.dataset.view].render({ model, el: box });
}
