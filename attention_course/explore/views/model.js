// A language model that the course trained, at work in the reader's browser on text that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show) and
// `sight`, what was computed.

/** @import { Chosen, ModelValues, Render } from "../types" */
import { begin, refit } from "./live/chosen.js";
import { makeMenu } from "./live/controls.js";
import { makeEngine } from "./live/engine.js";
import { serve } from "./live/host.js";
import { KEY, readLink } from "./live/link.js";
import { start } from "./live/session.js";
import { makeStage } from "./live/stage.js";

/** @type {Render<ModelValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const { root, open, wait, end } = makeStage(el, data.alt);
  const names = data.models.map(({ name }) => name);
  const menu = makeMenu(root, "Model", names, (index) => show(index));
  menu.parentElement?.classList.add("course-live-choice");
  menu.parentElement?.toggleAttribute("hidden", names.length < 2);

  let chosen = begin(data);
  const show = (/** @type {number} */ index, /** @type {Chosen | null} */ linked = null) => {
    const one = data.models[index];
    menu.selectedIndex = index;
    const startIt = (/** @type {string} */ weights) => {
      chosen = linked ?? refit(chosen, index, one.sizes);
      return start(root, { ...data, ...one }, weights, chosen);
    };
    open(one.checkpoint, startIt, linked !== null);
  };
  const read = (/** @type {string} */ fragment) => readLink(fragment, data);
  wait(KEY, read, (linked) => show(linked?.model ?? 0, linked));
  return end;
};

if (!globalThis.document) serve(makeEngine); // the same file is the worker's script

export default { render };
