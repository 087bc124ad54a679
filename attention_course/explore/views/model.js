// A language model that the course trained, at work in the reader's browser on text that the reader types.
//
// The root element carries `explorer`, for tests and for the curious: `state`, `weights` (of the maps on show) and
// `sight`, what was computed.

/** @import { Chosen, ModelValues, Render } from "../types" */
import { make } from "./parts/dom.js";
import { begin, refit } from "./live/chosen.js";
import { makeMenu } from "./live/controls.js";
import { makeEngine } from "./live/engine.js";
import { followLinks } from "./live/fragment.js";
import { serve } from "./live/host.js";
import { KEY, readLink } from "./live/link.js";
import { start } from "./live/session.js";
import { load, whenSeen } from "./live/weights.js";

/** @type {Render<ModelValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const root = make(el, "div", "course-explorer-view course-live");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  root.setAttribute("aria-busy", "true");
  const progress = make(root, "p", "course-live-note", "The model loads when you come here.");
  const fault = make(root, "p", "course-live-note");
  fault.setAttribute("role", "status");
  const names = data.models.map(({ name }) => name);
  const menu = makeMenu(root, "Model", names, (index) => open(index));
  menu.parentElement?.classList.add("course-live-choice");
  menu.parentElement?.toggleAttribute("hidden", names.length < 2);

  let chosen = begin(data);
  let stop = () => {};
  let newest = 0; // of the models that were asked for: only the last may start
  const open = async (/** @type {number} */ index, /** @type {Chosen | null} */ linked = null) => {
    const mine = ++newest;
    const one = data.models[index];
    progress.textContent = "Loading the model …";
    menu.selectedIndex = index;
    const weights = await load(one.checkpoint).catch(() => null);
    if (mine !== newest) return;
    progress.textContent = weights ? "" : "The model could not be loaded.";
    if (!weights) return;
    stop();
    chosen = linked ?? refit(chosen, index, one.sizes);
    root.removeAttribute("aria-busy");
    el.querySelector(".course-explorer-first")?.remove();
    stop = start(root, { ...data, ...one }, weights, chosen);
    if (!linked) return;
    await document.fonts.ready; // only now: until the page has loaded, all above may still grow
    root.scrollIntoView();
  };
  const away = whenSeen(root, () => open(0));
  const read = (/** @type {string} */ fragment) => readLink(fragment, data);
  const leave = followLinks(root, fault, KEY, read, (to) => {
    away(); // or the page's own model would start when the reader comes to it
    open(to.model, to);
  });
  return () => {
    newest++;
    leave();
    away();
    stop();
  };
};

if (!globalThis.document) serve(makeEngine); // the same file is the worker's script

export default { render };
