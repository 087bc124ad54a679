// One character on its way up the residual stream: what each block adds, and what the model would say if it stopped there.

/** @import { ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { visible } from "./characters.js";
import { softmax } from "./layers.js";
import { mostSeen } from "./numbers.js";

const TOLD = 3;

/** @type {(data: ModelData, logits: Float32Array, show?: (character: string) => string) => string} */
export const tell = (data, logits, show = visible) => {
  const shares = Array.from(softmax(logits));
  const told = mostSeen(shares, TOLD).map((symbol) => `“${show(data.vocabulary[symbol])}”\u00a0${Math.round(100 * shares[symbol])}%`);
  return told.join(", ");
};

/** @type {(parent: Element, data: ModelData) => (sight: Sight, selected: number) => void} */
export const makeFollow = (parent, data) => {
  const title = make(parent, "p");
  make(parent, "p", "course-live-note", "The stream is a list of numbers, to which each block adds. How long are the additions, and the stream?");
  const table = make(parent, "table", "course-live-follow");
  const head = make(make(table, "thead"), "tr");
  for (const name of ["after", "it would say next", "attention and feed-forward add", "length of the stream"]) {
    make(head, "th", "", name).scope = "col";
  }
  const body = make(table, "tbody");
  const rows = Array.from({ length: data.sizes.blocks + 1 }, (_, place) => {
    const row = make(body, "tr");
    make(row, "th", "", place ? `block ${place}` : "embedding").scope = "row";
    return ["course-live-says", "", ""].map((name) => make(row, "td", name));
  });
  return ({ symbols, lenses, additions, streams }, selected) => {
    const size = data.vocabulary.length;
    title.textContent = `Follow “${visible(data.vocabulary[symbols[selected]])}”, character ${selected + 1}:`;
    rows.forEach((cells, place) => {
      const added = place ? additions[place - 1] : null;
      const says = tell(data, lenses[place].subarray(selected * size, (selected + 1) * size));
      const adds = added ? `${added.attended[selected].toFixed(1)} and ${added.fed[selected].toFixed(1)}` : "–";
      [says, adds, streams[place][selected].toFixed(1)].forEach((text, i) => (cells[i].textContent = text));
    });
  };
};
