// A translator that the course trained, at work in the reader's browser on a sentence that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show), `looks`
// (the lines: their mean, a row for each word) and `sight`, what was computed.

/** @import { Render, Translating, TranslatorValues } from "../types" */
import { make } from "./parts/dom.js";
import { followLinks } from "./live/fragment.js";
import { serve } from "./live/host.js";
import { makeTranslationEngine } from "./live/translation.js";
import { KEY, readLink } from "./live/translation_link.js";
import { start } from "./live/translation_session.js";
import { load, whenSeen } from "./live/weights.js";

/** @type {Render<TranslatorValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const root = make(el, "div", "course-explorer-view course-live");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  root.setAttribute("aria-busy", "true");
  const progress = make(root, "p", "course-live-note", "The model loads when you come here.");
  const fault = make(root, "p", "course-live-note");
  fault.setAttribute("role", "status");
  let stop = () => {};
  let newest = 0; // of the states that were asked for: only the last may start
  const open = async (/** @type {Translating | null} */ linked = null) => {
    const mine = ++newest;
    progress.textContent = "Loading the model …";
    const weights = await load(data.checkpoint).catch(() => null);
    if (mine !== newest) return;
    progress.textContent = weights ? "" : "The model could not be loaded.";
    if (!weights) return;
    stop();
    root.removeAttribute("aria-busy");
    el.querySelector(".course-explorer-first")?.remove();
    stop = start(root, data, weights, linked);
    if (!linked) return;
    await document.fonts.ready; // only now: until the page has loaded, all above may still grow
    root.scrollIntoView();
  };
  const away = whenSeen(root, () => open());
  const read = (/** @type {string} */ fragment) => readLink(fragment, data);
  const leave = followLinks(root, fault, KEY, read, (to) => {
    away(); // or the page's own sentence would stand there when the reader comes to it
    open(to);
  });
  return () => {
    newest++;
    leave();
    away();
    stop();
  };
};

if (!globalThis.document) serve(makeTranslationEngine); // the same file is the worker's script

export default { render };
