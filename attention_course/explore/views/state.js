// What a recurrent state keeps: pairs of a name and a letter, written one after the other into one matrix.
//
// The root element carries `explorer`, for tests and for the curious: `run(delta, kept, written)`, which returns the
// state, what was written last and what each name reads, and `state`: rule, kept, written, and the names read right.

/** @import { Matrix, Render, StateData, StateRun, StateValues } from "../types" */

import { make } from "./parts/dom.js";

const ALIKE = 1e-9; // readings that differ by less are the same, but for rounding

// S' k, a number for each letter.
/** @type {(state: Matrix, key: number[]) => number[]} */
const read = (state, key) => state[0].map((_, letter) => key.reduce((sum, value, i) => sum + value * state[i][letter], 0));

/** @type {(data: StateData) => StateRun} */
const makeRun = ({ keys, pairs, letters }) => (delta, kept, written) => {
  let state = keys[0].map(() => letters.map(() => 0));
  let added = letters.map(() => 0);
  for (const [name, letter] of pairs.slice(0, written)) {
    state = state.map((row) => row.map((value) => kept * value));
    const found = delta ? read(state, keys[name]) : [];
    added = letters.map((_, i) => Number(i === letter) - (found[i] ?? 0));
    state = state.map((row, i) => row.map((value, j) => value + keys[name][i] * added[j]));
  }
  return { state, added, readings: keys.map((key) => read(state, key)) };
};

// The letter with the largest number, unless two are the same.
/** @type {(reading: number[]) => number} */
const answerOf = (reading) => {
  const largest = Math.max(...reading);
  const best = reading.flatMap((value, i) => (value > largest - ALIKE ? [i] : []));
  return best.length > 1 ? -1 : best[0];
};

const number = (/** @type {number} */ value) => (Math.abs(value) < 0.005 ? "0" : value.toFixed(2).replace("-", "−"));

// A number, with a ground that is the stronger the farther it is from 0.
/** @type {(cell: HTMLElement, value: number | null) => void} */
const fill = (cell, value) => {
  cell.textContent = value === null ? "" : number(value);
  cell.classList.toggle("course-state-below", (value ?? 0) < 0);
  cell.style.setProperty("--share", Math.min(1, Math.abs(value ?? 0)).toFixed(3));
};

// A table with the letters as its head, in a figure with a caption.
/** @type {(root: Element, letters: string[], name: string) => { caption: HTMLElement, head: HTMLElement, body: HTMLElement }} */
const makeTable = (root, letters, name) => {
  const figure = make(root, "figure", name);
  const caption = make(figure, "figcaption");
  const table = make(figure, "table");
  const head = make(make(table, "thead"), "tr");
  make(head, "td");
  for (const letter of letters) make(head, "th", "", letter).scope = "col";
  return { caption, head, body: make(table, "tbody") };
};

/** @type {(body: Element, letters: string[], name?: string) => { row: HTMLElement, head: HTMLElement, cells: HTMLElement[] }} */
const makeRow = (body, letters, name) => {
  const row = make(body, "tr", name);
  const head = make(row, "th");
  head.scope = "row";
  return { row, head, cells: letters.map(() => make(row, "td")) };
};

/** @type {Render<StateValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const { names, letters, keys, pairs, shares } = data;
  const run = makeRun(data);

  const root = make(el, "div", "course-explorer-view course-state");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  const list = make(root, "ol", "course-state-pairs");
  const items = pairs.map(([name, letter]) => make(list, "li", "", `${names[name]} → ${letters[letter]}`));
  const line = make(root, "div", "course-state-line");
  const button = make(line, "button", "course-explorer-play");
  button.type = "button";
  const said = make(line, "p", "course-state-said");
  said.setAttribute("aria-live", "polite");

  const matrix = makeTable(root, letters, "course-state-matrix");
  const top = makeRow(matrix.body, letters, "course-state-new");
  const rows = keys[0].map(() => makeRow(matrix.body, letters));
  const reading = makeTable(root, letters, "course-state-readings");
  reading.caption.textContent = "What each name reads. Framed: its latest letter";
  make(reading.head, "th", "course-state-answer", "answer").scope = "col";
  const readers = names.map((name) => {
    const reader = makeRow(reading.body, letters);
    reader.head.textContent = name;
    return { ...reader, answer: make(reader.row, "td", "course-state-answer") };
  });

  const draw = () => {
    const delta = model.get("rule") === 1;
    const written = model.get("written");
    const { state, added, readings } = run(delta, shares[model.get("kept")], written);
    const newest = written ? pairs[written - 1][0] : -1;
    const should = names.map(() => -1);
    for (const [name, letter] of pairs.slice(0, written)) should[name] = letter;

    items.forEach((item, i) => {
      const later = pairs.slice(i + 1, written).some((pair) => pair[0] === pairs[i][0]);
      item.className = i < written ? (later ? "course-state-old" : "course-state-written") : "";
      item.setAttribute("aria-current", i === written - 1 ? "step" : "false");
    });
    matrix.caption.textContent = written
      ? `The state. Last added: the key of ${names[newest]} (left) × what was written (top)`
      : "The state: nothing is written yet";
    top.head.textContent = written ? "×" : "";
    top.cells.forEach((cell, i) => fill(cell, written ? added[i] : null));
    rows.forEach(({ head, cells }, i) => {
      fill(head, written ? keys[newest][i] : null);
      cells.forEach((cell, j) => fill(cell, state[i][j]));
    });
    const right = readers.filter(({ row, cells, answer }, name) => {
      const known = should[name] >= 0;
      const best = answerOf(readings[name]);
      row.classList.toggle("course-state-newest", name === newest);
      cells.forEach((cell, i) => {
        fill(cell, known ? readings[name][i] : null);
        cell.classList.toggle("course-state-gold", i === should[name]);
        cell.classList.toggle("course-state-best", known && i === best);
      });
      const correct = known && best === should[name];
      answer.textContent = known ? `${correct ? "✓" : "✗"} ${letters[best] ?? "tie"}` : "";
      answer.classList.toggle("course-state-wrong", known && !correct);
      return correct;
    }).length;
    const asked = should.filter((letter) => letter >= 0).length;
    said.textContent = asked ? `Right: ${right} of ${asked}` : "Nothing yet";
    button.textContent = written < pairs.length ? "Write the next pair" : "Start again";
    root.explorer = { run, state: { rule: delta ? "delta" : "add", kept: shares[model.get("kept")], written, right } };
  };

  button.addEventListener("click", () => {
    model.set("written", (model.get("written") + 1) % (pairs.length + 1));
    model.save_changes();
  });
  const changes = ["rule", "kept", "written"].map((name) => `change:${name}`);
  for (const name of changes) model.on(name, draw);
  draw();
  return () => {
    for (const name of changes) model.off(name, draw);
  };
};

export default { render };
