// A trained network that sorts, at work in the reader's browser: GRUEncoderDecoder(attention="concat") in plain
// JavaScript, on numbers that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `run(numbers, temperature)`, which returns every
// intermediate result, `weights`, nested arrays (1, queries, keys), and `state`: temperature, numbers, written.

/** @import { Matrix, Render, SortingData, SortingRun, SortingValues } from "../types" */

import { make } from "./parts/dom.js";
import { unpackHalf } from "./parts/half.js";

// The parameters by the names that PyTorch gives them: matrices as arrays of rows, biases as one row.
/** @type {(data: SortingData) => Record<string, Matrix>} */
const unpack = (data) => {
  // On the site the weights are in a file of their own, which has run before; where it has not come, this throws.
  const parameters = unpackHalf({ weights: globalThis.courseModels?.[data.weights] ?? data.weights, shapes: data.shapes });
  const entries = Object.entries(parameters).map(([name, { rows, columns, values }]) => [
    name,
    Array.from({ length: rows }, (_, row) => Array.from(values.subarray(row * columns, (row + 1) * columns))),
  ]);
  return Object.fromEntries(entries);
};

/** @type {(a: number[], b: number[]) => number} */
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** @type {(a: number[], b: number[]) => number[]} */
const plus = (a, b) => a.map((value, i) => value + b[i]);

const sigmoid = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x));

const softmax = (/** @type {number[]} */ scores) => {
  const largest = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - largest));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
};

// The network: reads the numbers in both directions, then writes as many, each time looking back at what it has read.
/** @type {(data: SortingData) => SortingRun} */
const makeNetwork = (data) => {
  const parameters = unpack(data);
  /** @type {(name: string, input: number[], end?: string) => number[]} */
  const linear = (name, input, end = "") => {
    const outputs = parameters[`${name}weight${end}`].map((row) => dot(row, input));
    const bias = parameters[`${name}bias${end}`];
    return bias ? plus(outputs, bias[0]) : outputs;
  };
  /** @type {(name: string, end: string, input: number[], state: number[]) => number[]} */
  const gru = (name, end, input, state) => {
    const [fromInput, fromState] = [linear(name, input, `_ih${end}`), linear(name, state, `_hh${end}`)];
    const width = state.length;
    return state.map((before, i) => {
      const reset = sigmoid(fromInput[i] + fromState[i]);
      const keep = sigmoid(fromInput[width + i] + fromState[width + i]);
      const next = Math.tanh(fromInput[2 * width + i] + reset * fromState[2 * width + i]);
      return (1 - keep) * next + keep * before;
    });
  };
  const embed = (/** @type {number} */ symbol) => parameters["embedding.weight"][symbol];

  const read = (/** @type {number[]} */ numbers) => {
    const width = parameters["encoder.weight_hh_l0"][0].length;
    const [ahead, back] = ["_l0", "_l0_reverse"].map((end, direction) => {
      let state = new Array(width).fill(0);
      const inputs = direction ? [...numbers].reverse() : numbers;
      return inputs.map((number) => (state = gru("encoder.", end, embed(number), state)));
    });
    const last = [...ahead[ahead.length - 1], ...back[back.length - 1]];
    back.reverse();
    return { memory: ahead.map((state, i) => [...state, ...back[i]]), last };
  };

  return (numbers, temperature) => {
    const { memory, last } = read(numbers);
    const keys = memory.map((state) => linear("attention.additive.key_proj.", state));
    const energy = parameters["attention.additive.energy.weight"][0];
    let state = linear("bridge.", last).map(Math.tanh);
    let symbol = data.start;
    const steps = numbers.map(() => {
      state = gru("decoder.", "_l0", embed(symbol), state);
      const query = linear("attention.additive.query_proj.", state);
      const scores = keys.map((key) => dot(energy, plus(query, key).map(Math.tanh)));
      const weights = softmax(scores.map((score) => score / temperature));
      const context = state.map((_, i) => dot(weights, memory.map((place) => place[i])));
      const logits = linear("logits.", linear("readout.", [...state, ...context]).map(Math.tanh));
      symbol = logits.indexOf(Math.max(...logits));
      return { state, scores, weights, context, logits, symbol };
    });
    return { memory, steps };
  };
};

/** @type {(words: (string | number)[]) => string} */
const list = (words) => words.join(", ");

// A weight as a shade, and as a number for whoever does not see shades.
const makeCell = (/** @type {Element} */ row) => {
  const cell = make(make(row, "td"), "div");
  cell.setAttribute("role", "img");
  return cell;
};

/** @type {Render<SortingValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const run = makeNetwork(data);
  let numbers = data.numbers;

  const root = make(el, "div", "course-explorer-view course-sorter");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  const table = make(root, "table");
  const head = make(make(table, "thead"), "tr");
  make(head, "td", "", "reads →\nwrites ↓");
  const inputs = numbers.map((number, i) => {
    const cell = make(head, "th");
    cell.scope = "col";
    const input = make(cell, "input");
    input.inputMode = "numeric";
    input.maxLength = String(data.start - 1).length;
    input.autocomplete = "off";
    input.value = String(number);
    input.setAttribute("aria-label", `Number ${i + 1} of ${numbers.length}, from 0 to ${data.start - 1}`);
    return input;
  });
  const body = make(table, "tbody");
  const rows = numbers.map(() => {
    const row = make(body, "tr");
    const written = make(row, "th");
    written.scope = "row";
    return { row, written, cells: numbers.map(() => makeCell(row)) };
  });
  const said = make(root, "p", "course-sorter-said");
  said.setAttribute("aria-live", "polite");
  const button = make(root, "button", "", "Other numbers");
  button.type = "button";

  const draw = () => {
    const temperature = model.get("temperature");
    const { steps } = run(numbers, temperature);
    const right = [...numbers].sort((a, b) => a - b);
    const written = steps.map((step) => step.symbol);
    rows.forEach((row, i) => {
      const wrong = written[i] !== right[i];
      row.written.textContent = wrong ? `✗ ${written[i]}` : `${written[i]}`;
      row.written.classList.toggle("course-sorter-wrong", wrong);
      row.cells.forEach((cell, j) => {
        const weight = steps[i].weights[j];
        cell.ariaLabel = `${Math.round(100 * weight)}%`;
        cell.style.setProperty("--weight", weight.toFixed(3));
        cell.classList.toggle("course-sorter-gold", numbers[j] === right[i]);
      });
    });
    const misses = right.filter((number, i) => number !== written[i]).length;
    const told = misses
      ? `It writes ${list(written)}: ${misses} of ${numbers.length} wrong. Right is ${list(right)}.`
      : `It writes ${list(written)}: sorted.`;
    if (!head.querySelector("[aria-invalid=true]")) said.textContent = told; // else what is wrong there stays
    root.explorer = { run, weights: [steps.map((step) => step.weights)], state: { temperature, numbers, written } };
  };

  // Line by line, as the network writes them.
  const write = () => {
    draw();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    rows.forEach(({ row }, i) => row.animate({ opacity: [0, 1] }, { duration: 250, delay: 200 * i, fill: "backwards" }));
  };
  const take = () => {
    const typed = inputs.map((input) => (/^\d+$/.test(input.value.trim()) ? Number(input.value) : data.start));
    inputs.forEach((input, i) => input.setAttribute("aria-invalid", String(typed[i] >= data.start)));
    if (typed.some((number) => number >= data.start)) {
      said.textContent = `It knows whole numbers from 0 to ${data.start - 1}.`;
      return;
    }
    numbers = typed;
    write();
  };
  inputs.forEach((input) => {
    input.addEventListener("input", take);
    input.addEventListener("focus", () => input.select());
  });
  button.addEventListener("click", () => {
    for (const input of inputs) input.value = String(Math.floor(Math.random() * data.start));
    take();
  });
  model.on("change:temperature", draw);
  write();
  return () => model.off("change:temperature", draw);
};

export default { render };
