// The sliders of how the next symbol is drawn.

/** @import { Sampling, Steps } from "../../types" */
import { make } from "../parts/dom.js";
import { whole } from "./numbers.js";

export const LARGEST_SEED = 2 ** 32 - 1;

export const TOP_P = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

const HOTTEST = 2.5; // beyond, what is written is noise

/** @type {(steps: Steps) => number} */
const highest = ({ high, decade }) => Math.min(high, Math.round(Math.log10(HOTTEST) * decade));

// The temperature of a step of its slider. Below the lowest stands 0: the likeliest symbol, always.
/** @type {(step: number, steps: Steps) => number} */
export const degrees = (step, { low, decade }) => (step < low ? 0 : Math.max(0.05, 10 ** (step / decade)));

/** @type {(temperature: number, steps: Steps) => number} */
export const stepOf = (temperature, steps) =>
  Math.min(highest(steps), Math.max(steps.low - 1, Math.round(Math.log10(temperature) * steps.decade)));

/** @type {(temperature: number) => string} */
export const tellTemperature = (temperature) => (temperature ? String(Number(temperature.toPrecision(3))) : "0: the likeliest");

// `set` takes a step, and returns what to say of it.
/** @type {(parent: Element, name: string, low: number, high: number, start: number, set: (step: number) => string) => void} */
const makeSlider = (parent, name, low, high, start, set) => {
  const box = make(parent, "div", "course-explorer-control");
  const input = make(make(box, "label", "", `${name} `), "input");
  const output = make(box, "output");
  input.type = "range";
  [input.min, input.max, input.value] = [String(low), String(high), String(start)];
  input.dataset.control = name;
  const show = () => {
    output.textContent = set(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", show);
  show();
};

const EXPLAINED =
  "Below 1, the temperature makes what is likely likelier still; above 1, less so. Top-k keeps the k likeliest characters, " +
  "top-p the likeliest that together reach that probability. The same seed draws the same characters again.";

/** @type {(parent: Element, sampling: Sampling, size: number, steps: Steps, change: () => void) => void} */
export const makeSliders = (parent, sampling, size, steps, change) => {
  const box = make(parent, "div", "course-explorer-controls");
  makeSlider(box, "temperature", steps.low - 1, highest(steps), stepOf(sampling.temperature, steps), (step) => {
    sampling.temperature = degrees(step, steps);
    return tellTemperature(sampling.temperature);
  });
  makeSlider(box, "top-k", 1, size, sampling.topK, (k) => {
    sampling.topK = k;
    return k === size ? "all" : String(k);
  });
  makeSlider(box, "top-p", 0, TOP_P.length - 1, TOP_P.indexOf(sampling.topP), (step) =>
    String((sampling.topP = TOP_P[step])),
  );
  box.addEventListener("input", change);
  const seed = make(make(parent, "label", "", "seed "), "input");
  seed.type = "number";
  seed.min = "0";
  seed.value = String(sampling.seed);
  seed.max = String(LARGEST_SEED);
  seed.addEventListener("input", () => (sampling.seed = whole(seed.value, 0, LARGEST_SEED)));
  seed.addEventListener("change", () => (seed.value = String(sampling.seed)));
  make(parent, "p", "course-live-note", EXPLAINED);
};
