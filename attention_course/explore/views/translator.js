// A translator that the course trained, at work in the reader's browser on a sentence that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show), `looks`
// (the lines: their mean, a row for each word) and `sight`, what was computed.

/** @import { Render, TranslatorValues } from "../types" */
import { serve } from "./live/host.js";
import { makeStage } from "./live/stage.js";
import { makeTranslationEngine } from "./live/translation.js";
import { KEY, readLink } from "./live/translation_link.js";
import { start } from "./live/translation_session.js";

/** @type {Render<TranslatorValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const { root, open, wait, end } = makeStage(el, data.alt);
  const read = (/** @type {string} */ fragment) => readLink(fragment, data);
  wait(KEY, read, (linked) => {
    open(data.checkpoint, (weights) => start(root, data, weights, linked), linked !== null);
  });
  return end;
};

if (!globalThis.document) serve(makeTranslationEngine); // the same file is the worker's script

export default { render };
