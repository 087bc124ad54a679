// Where a live model loads: when the reader comes to it and moves, or follows a link to one of its states.

import { make } from "../parts/dom.js";
import { makeButton } from "./controls.js";
import { followLinks } from "./fragment.js";
import { firstSign, forget, isFile, load, whenSeen } from "./weights.js";

/**
 * What starts a loaded model in an element of its own, and tells when it has answered and how to end it.
 * @typedef {(weights: string) => { root: HTMLElement, ready: Promise<unknown>, end: () => void }} Begin
 */

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
  const progress = make(root, "p", "course-live-note", "The model loads as soon as you move, touch or press something.");
  const fault = make(root, "p", "course-live-note");
  fault.setAttribute("role", "status");
  let retry = () => {};
  const again = makeButton(root, "Load the model again", () => retry());
  again.hidden = true;
  let stop = () => {};
  let leave = () => {};
  let newest = 0; // of what was asked for: only the last may start
  const sign = firstSign();

  // Whether the model answers. Until it does, what is seen at first stays.
  /** @type {(begin: Begin, weights: string) => Promise<boolean>} */
  const run = async (begin, weights) => {
    stop();
    const model = begin(weights);
    stop = model.end;
    model.root.classList.add("course-live-waiting");
    const answers = await model.ready.then(() => true, () => false);
    if (stop !== model.end) return true; // another stands in its place
    model.root.classList.remove("course-live-waiting");
    if (answers) el.querySelector(".course-explorer-first")?.remove();
    else stop();
    return answers;
  };
  /** @type {(checkpoint: string, begin: Begin, isLinked: boolean) => Promise<void>} */
  const open = async (checkpoint, begin, isLinked) => {
    const mine = ++newest;
    retry = () => open(checkpoint, begin, isLinked);
    if (isFile(checkpoint) && !isLinked) await sign; // a model may be as heavy as all the rest of its page
    if (mine !== newest) return;
    progress.textContent = "Loading the model …";
    const weights = await load(checkpoint).catch(() => null);
    if (mine !== newest) return;
    const answers = weights !== null && (await run(begin, weights));
    if (weights && !answers) forget(checkpoint);
    if (mine !== newest) return;
    progress.textContent = "";
    fault.textContent = answers ? fault.textContent : "The model could not be loaded.";
    root.removeAttribute("aria-busy");
    if (answers && document.activeElement === again) {
      root.tabIndex = -1; // takes the focus of the button, which goes
      root.focus();
    }
    again.hidden = answers;
    if (!answers || !isLinked) return;
    root.dispatchEvent(new Event("course-linked", { bubbles: true })); // what covers it on the site opens
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
