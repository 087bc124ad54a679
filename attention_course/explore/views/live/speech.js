// What a screen reader says of a model: one sentence, once the reader has paused.

import { make } from "../parts/dom.js";

const PAUSE = 700; // milliseconds

/**
 * @param {Element} root
 * @param {() => string | null} compose - The sentence, or nothing where nothing is to be said.
 */
export const makeSpeech = (root, compose) => {
  const said = make(root, "p", "course-live-said");
  said.setAttribute("aria-live", "polite");
  let timer = 0;
  const end = () => clearTimeout(timer);
  const later = () => {
    end(); // one sentence for a whole word that is typed
    timer = setTimeout(() => {
      const sentence = compose();
      if (sentence) said.textContent = sentence;
    }, PAUSE);
  };
  return { later, end };
};
