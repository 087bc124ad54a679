// What the reader can take out of the translator, and what that costs its translation.

/** @import { TranslationSight, TranslatorChanges, TranslatorData } from "../../types" */
import { make } from "../parts/dom.js";
import { makeCheck, without } from "./checkboxes.js";
import { softmax } from "./layers.js";
import { makeButton } from "./controls.js";
import { range } from "./numbers.js";
import { noTranslatorChanges } from "./translation.js";

// The product of the probabilities of all that is written.
/** @type {(written: number[], logits: Float32Array, size: number) => number} */
export const rate = (written, logits, size) =>
  written.reduce((product, symbol, i) => product * softmax(logits.subarray(i * size, (i + 1) * size))[symbol], 1);

const LEAST = 1e-8;

/** @type {(probability: number) => string} */
export const tellRate = (probability) => {
  const told = (100 * Math.max(probability, LEAST)).toLocaleString("en", { maximumSignificantDigits: 3 });
  return `${probability < LEAST ? "less than " : ""}${told}%`;
};

/** @type {(data: TranslatorData, sight: TranslationSight) => string} */
export const tellRates = ({ vocabulary, sizes }, { written, changes, logits, intactLogits }) => {
  if (!written.length) return "Nothing is written yet.";
  const [now, before] = [logits, intactLogits].map((all) => tellRate(rate(written, all, vocabulary.length)));
  const intact = JSON.stringify(changes) === JSON.stringify(noTranslatorChanges(sizes));
  const beside = intact ? "" : `; as it was trained, ${before}`;
  return `The model gives these words, together, a probability of ${now}${beside}.`;
};

// What is taken out, or nothing.
/** @type {(changes: TranslatorChanges) => string} */
export const tellOut = ({ heads, encoder, decoder }) => {
  const out = [
    ...encoder.map((block) => `encoder block ${block + 1}`),
    ...decoder.map((block) => `decoder block ${block + 1}`),
    ...heads.flatMap((off, block) => off.map((head) => `decoder block ${block + 1} head ${head + 1}`)),
  ];
  return out.length ? `Off: ${out.join(", ")}.` : "";
};

/** @type {(parent: Element, data: TranslatorData, changes: TranslatorChanges, change: (changes: TranslatorChanges) => void) => void} */
export const makeOmissions = (parent, { sizes }, changes, change) => {
  const set = (/** @type {Partial<TranslatorChanges>} */ what) => change((changes = { ...changes, ...what }));
  const makeLine = (/** @type {string} */ name) => {
    const line = make(parent, "div", "course-live-line");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", name);
    return line;
  };
  make(parent, "p", "", "Untick a part to switch it off. The heads are those of the cross-attention.");
  const encoder = makeLine("encoder");
  const checks = range(sizes.blocks).map((b) =>
    makeCheck(encoder, `encoder block ${b + 1}`, !changes.encoder.includes(b), (on) =>
      set({ encoder: without(changes.encoder, b, on) }),
    ),
  );
  for (const b of range(sizes.blocks)) {
    const line = makeLine(`decoder block ${b + 1}, with the heads of its cross-attention`);
    checks.push(
      makeCheck(line, `decoder block ${b + 1}`, !changes.decoder.includes(b), (on) =>
        set({ decoder: without(changes.decoder, b, on) }),
      ),
      ...range(sizes.heads).map((h) =>
        makeCheck(line, `head ${h + 1}`, !changes.heads[b].includes(h), (on) =>
          set({ heads: changes.heads.map((off, i) => (i === b ? without(off, h, on) : off)) }),
        ),
      ),
    );
  }
  makeButton(makeLine("all"), "As it was trained", () => {
    for (const input of checks) input.checked = true;
    change((changes = noTranslatorChanges(sizes)));
  });
};
