// The next symbol: its distribution over the whole vocabulary, how it is cut, and writing on.

/** @import { ModelData, Sampling, Sight, Steps } from "../../types" */
import { make } from "../parts/dom.js";
import { cut } from "./sampling.js";
import { visible } from "./text.js";

const TOP_P = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

/** @typedef {{ write: (count: number) => void, stop: () => void, takeBack: () => void }} Actions */

/** @type {(parent: Element, name: string, label: string, range: [number, number, number], say: (value: number) => string, set: (value: number) => void) => void} */
const makeSlider = (parent, name, label, [low, high, start], say, set) => {
  const box = make(parent, "div", "course-explorer-control");
  const line = make(box, "label");
  make(line, "span", "", label);
  const input = make(line, "input");
  input.type = "range";
  [input.min, input.max, input.step, input.value] = [String(low), String(high), "1", String(start)];
  input.dataset.control = name;
  const output = make(box, "output");
  const show = () => {
    output.textContent = say(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    show();
    set(Number(input.value));
  });
  show();
};

/** @type {(parent: Element, sampling: Sampling, size: number, steps: Steps, change: () => void) => void} */
const makeSliders = (parent, sampling, size, steps, change) => {
  const box = make(parent, "div", "course-explorer-controls");
  const degrees = (/** @type {number} */ step) => Math.max(0.05, 10 ** (step / steps.decade));
  makeSlider(box, "temperature", "temperature", [steps.low, steps.high, 0], (step) => String(Number(degrees(step).toPrecision(3))), (step) => {
    sampling.temperature = degrees(step);
    change();
  });
  makeSlider(box, "top-k", "top-k", [1, size, size], (k) => (k === size ? "all" : String(k)), (k) => {
    sampling.topK = k;
    change();
  });
  makeSlider(box, "top-p", "top-p", [0, TOP_P.length - 1, TOP_P.length - 1], (step) => String(TOP_P[step]), (step) => {
    sampling.topP = TOP_P[step];
    change();
  });
};

/** @type {(parent: Element, sampling: Sampling, actions: Actions) => (writing: boolean, canWrite: boolean, canTakeBack: boolean) => void} */
const makeWriting = (parent, sampling, actions) => {
  const line = make(parent, "div", "course-live-line");
  /** @type {(text: string, act: () => void) => HTMLButtonElement} */
  const button = (text, act) => {
    const element = make(line, "button", "", text);
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  };
  const one = button("Write one", () => actions.write(1));
  const many = button("Write on", () => actions.write(Infinity));
  const stop = button("Stop", actions.stop);
  const back = button("Take back", actions.takeBack);
  const seed = make(make(line, "label", "", "seed "), "input");
  seed.type = "number";
  seed.min = "0";
  seed.value = String(sampling.seed);
  seed.addEventListener("input", () => (sampling.seed = Number(seed.value) || 0));
  return (writing, canWrite, canTakeBack) => {
    one.disabled = many.disabled = !canWrite; // a disabled button loses the focus
    stop.disabled = !writing;
    back.disabled = writing || !canTakeBack;
  };
};

/** @type {(parent: Element, data: ModelData, sampling: Sampling, actions: Actions, change: () => void) => { draw: (sight: Sight, selected: number) => void, enable: ReturnType<typeof makeWriting> }} */
export const makeNext = (parent, data, sampling, actions, change) => {
  const size = data.vocabulary.length;
  const box = make(parent, "div", "course-live-next");
  const title = make(box, "p");
  const list = make(box, "ol");
  list.tabIndex = 0;
  list.setAttribute("aria-label", "probabilities of the next symbol");
  makeSliders(box, sampling, size, data.steps, change);
  const enable = makeWriting(box, sampling, actions);
  const items = Array.from({ length: size }, () => {
    const item = make(list, "li");
    return { item, symbol: make(item, "span"), share: make(item, "b") };
  });
  /** @type {(sight: Sight, selected: number) => void} */
  const draw = ({ symbols, lenses }, selected) => {
    const logits = lenses[lenses.length - 1].subarray(selected * size, (selected + 1) * size);
    const { probabilities, kept, order } = cut(logits, sampling);
    const total = kept.reduce((sum, symbol) => sum + probabilities[symbol], 0);
    title.textContent = `After “${visible(data.vocabulary[symbols[selected]])}”, token ${selected + 1}: ${kept.length} of ${size} symbols to draw from`;
    order.forEach((symbol, place) => {
      const { item, symbol: name, share } = items[place];
      const stays = place < kept.length;
      const probability = stays ? probabilities[symbol] / total : 0;
      name.textContent = visible(data.vocabulary[symbol]) + (symbol === symbols[selected + 1] ? " ← in your text" : "");
      share.textContent = stays ? `${(100 * probability).toFixed(1)}%` : `cut (${(100 * probabilities[symbol]).toFixed(1)}%)`;
      item.classList.toggle("course-live-cut", !stays);
      item.style.setProperty("--weight", String(probability));
    });
  };
  return { draw, enable };
};
