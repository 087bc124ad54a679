// The reader's state as a link, and what is seen as a picture.

import { make } from "../parts/dom.js";
import { save } from "../parts/save.js";
import { makeButton } from "./controls.js";
import { addPlace } from "./fragment.js";
import { SCRIPT } from "./host.js";

/** @typedef {{ text: string, link: string, isLast: boolean, draw: (() => HTMLCanvasElement) | null }} Seen */

// `isLast` is whether the model reads the text that stands in the box; `file` is how a picture's name begins.
/** @type {(parent: HTMLElement, file: string, see: () => Seen) => void} */
export const makeShare = (parent, file, see) => {
  const line = make(parent, "div", "course-live-line course-live-share");
  const field = document.createElement("input");
  field.readOnly = true;
  field.setAttribute("aria-label", "link to what you see");
  const copy = async () => {
    const { link: one, isLast } = see();
    const link = addPlace(one, parent);
    try {
      await navigator.clipboard.writeText(link);
      field.remove();
      status.textContent = isLast ? "Link copied." : "Link copied, with the text that the model has read last.";
    } catch {
      // No clipboard in a folder, or where the reader forbids it.
      line.after(field);
      field.value = link;
      field.select();
      status.textContent = "This browser does not let the page copy: copy the link yourself.";
    }
  };
  if (SCRIPT) makeButton(line, "Copy link to this", copy); // a notebook's page is not the model's own
  makeButton(line, "Save as picture", () => {
    const { text, draw } = see();
    if (!draw) return;
    const words = text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
    draw().toBlob((blob) => {
      if (blob) save(blob, `${[file, words].filter(Boolean).join("-")}.png`);
      status.textContent = blob ? "Picture saved." : "This browser could not make the picture.";
    });
  });
  const status = make(line, "span", "course-live-status");
  status.setAttribute("role", "status");
};
