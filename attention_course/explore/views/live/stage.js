// Where a live model loads: when the reader comes to it, or follows a link to one of its states.

import { make } from "../parts/dom.js";
import { makeButton } from "./controls.js";
import { followLinks } from "./fragment.js";
import { load, whenSeen } from "./weights.js";

/** @typedef {(weights: string) => () => void} Begin what starts a loaded model, and returns what ends it */

/**
 * @type {(el: HTMLElement, alt: string) => {
 *   root: HTMLElement,
 *   open: (checkpoint: string, begin: Begin, isLinked: boolean) => Promise<void>,
 *   wait: <State>(key: string, read: (fragment: string) => State | null, show: (state: State | null) => void) => void,
 *   end: () => void,
 * }}
 */
export const makeStage = (el, alt) => {
  const root = make(el, "div", "course-explorer-view course-live");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", alt);
  root.setAttribute("aria-busy", "true");
  const progress = make(root, "p", "course-live-note", "The model loads when you come here.");
  const fault = make(root, "p", "course-live-note");
  fault.setAttribute("role", "status");
  let retry = () => {};
  const again = makeButton(root, "Load the model again", () => retry());
  again.hidden = true;
  let stop = () => {};
  let leave = () => {};
  let newest = 0; // of what was asked for: only the last may start

  /** @type {(checkpoint: string, begin: Begin, isLinked: boolean) => Promise<void>} */
  const open = async (checkpoint, begin, isLinked) => {
    const mine = ++newest;
    retry = () => open(checkpoint, begin, isLinked);
    progress.textContent = "Loading the model …";
    const weights = await load(checkpoint).catch(() => null);
    if (mine !== newest) return;
    progress.textContent = "";
    fault.textContent = weights ? fault.textContent : "The model could not be loaded.";
    root.removeAttribute("aria-busy");
    if (weights && document.activeElement === again) {
      root.tabIndex = -1; // takes the focus of the button, which goes
      root.focus();
    }
    again.hidden = weights !== null;
    if (!weights) return;
    stop();
    el.querySelector(".course-explorer-first")?.remove();
    stop = begin(weights);
    if (!isLinked) return;
    await document.fonts.ready; // only now: until the page has loaded, all above may still grow
    root.scrollIntoView();
  };
  /** @type {<State>(key: string, read: (fragment: string) => State | null, show: (state: State | null) => void) => void} */
  const wait = (key, read, show) => {
    const away = whenSeen(root, () => show(null));
    const unlink = followLinks(root, fault, key, read, (to) => {
      away(); // or the page's own state would be shown when the reader comes to it
      show(to);
    });
    leave = () => {
      unlink();
      away();
    };
  };
  const end = () => {
    newest++;
    leave();
    stop();
  };
  return { root, open, wait, end };
};
