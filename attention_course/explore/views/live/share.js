// The reader's state as a link, and what is seen as a picture.

/** @import { Chosen, ModelData, Sight } from "../../types" */
import { make } from "../parts/dom.js";
import { save } from "../parts/save.js";
import { makeButton } from "./controls.js";
import { SCRIPT } from "./host.js";
import { makeLink } from "./link.js";
import { drawPicture } from "./picture.js";

/** @type {(parent: HTMLElement, data: ModelData, chosen: Chosen, seen: () => { sight: Sight, selected: number } | null) => void} */
export const makeShare = (parent, data, chosen, seen) => {
  const line = make(parent, "div", "course-live-line course-live-share");
  const field = document.createElement("input");
  field.readOnly = true;
  field.setAttribute("aria-label", "link to what you see");
  const copy = async () => {
    const link = makeLink(chosen, data);
    try {
      await navigator.clipboard.writeText(link);
      field.remove();
      status.textContent =
        chosen.typed === chosen.text ? "Link copied." : "Link copied, with the text that the model has read last.";
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
    const now = seen();
    if (!now) return;
    const words = chosen.text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
    const picture = drawPicture(parent, data, now.sight, now.selected, chosen.sampling);
    picture.toBlob((blob) => {
      if (blob) save(blob, `${["live-model", words].filter(Boolean).join("-")}.png`);
      status.textContent = "Picture saved.";
    });
  });
  const status = make(line, "span", "course-live-status");
  status.setAttribute("role", "status");
};
