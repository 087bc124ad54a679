// Pictures drawn beforehand, one for each position of one or two sliders.
//
// The root element carries `explorer`: `state` with `frame`, the number of the picture, and each slider's value.

/** @import { FramesValues, Render } from "../types" */

/** @type {("first" | "second")[]} */
const TRAITS = ["first", "second"];

import { make } from "./parts/dom.js";

// A diagram stands in the page as it is, and so takes the page's colours; a figure is an image.
const isDrawing = (/** @type {string} */ picture) => picture.startsWith("<svg");
const parse = (/** @type {string} */ svg) => new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;

// What later steps add stands faintly behind the first ones, which would else be empty boxes.
const makeFaint = (/** @type {string} */ svg) => {
  const faint = parse(svg);
  faint.setAttribute("class", "course-explorer-coming");
  faint.setAttribute("aria-hidden", "true");
  return faint;
};

// Where the one of the moment stands, with room for the longest.
/** @type {(parent: Element, captions: string[]) => HTMLElement} */
const makeCaption = (parent, captions) => {
  const box = make(parent, "div", "course-explorer-captions");
  const caption = make(box, "p", "course-explorer-caption");
  caption.setAttribute("aria-live", "polite");
  for (const one of captions) make(box, "p", "", one).setAttribute("aria-hidden", "true");
  return caption;
};

/** @type {Render<FramesValues>} */
const render = ({ model, el }) => {
  const data = model.get("data");
  const traits = TRAITS.slice(0, data.sliders.length);
  const length = data.sliders[0].values.length;
  const root = make(el, "div", "course-explorer-view");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.alt);
  const captions = (data.captions ?? []).map((said, frame) => `${frame + 1} of ${length}: ${said}`);
  const caption = data.captions && makeCaption(root, captions);
  const image = make(root, "img", "course-explorer-frame");
  // Until the first picture has arrived, it has the room of the one in whose place it stands, and comes when that would.
  const first = /** @type {HTMLImageElement | null} */ (el.querySelector(".course-explorer-first img"));
  if (first) [image.width, image.height, image.loading] = [first.width, first.height, first.loading];
  image.addEventListener("load", () => ([image.width, image.height] = [image.naturalWidth, image.naturalHeight]));
  const drawing = make(root, "div", "course-explorer-drawing");
  const button = make(root, "button", "course-explorer-play");
  button.type = "button";
  let timer = 0;

  // Someone who asked for less motion, and someone who reads captions, goes on by hand.
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const still = () => data.captions || calm();

  const draw = () => {
    const indices = traits.map((trait) => model.get(trait));
    const frame = indices.reduce((number, index, i) => number * data.sliders[i].values.length + index, 0);
    const picture = data.frames[frame];
    image.hidden = isDrawing(picture);
    const whole = data.captions && !data.plays ? data.frames[length - 1] : ""; // what plays shows its own places
    const faint = isDrawing(whole) ? [makeFaint(whole)] : [];
    drawing.replaceChildren(...(image.hidden ? [...faint, parse(picture)] : []));
    if (!image.hidden) image.src = picture;
    image.alt = data.captions ? `${data.alt} ${data.captions[frame]}` : data.alt;
    if (caption) caption.setAttribute("aria-live", timer ? "off" : "polite"); // nobody asked for what plays by itself
    if (caption) caption.textContent = captions[frame];
    const last = indices[0] === length - 1;
    button.textContent = timer ? "Pause" : still() ? (last ? "Start again" : "Next") : "Play";
    const values = data.sliders.map((slider, i) => [slider.name, slider.values[indices[i]]]);
    root.explorer = { state: { ...Object.fromEntries(values), frame } };
  };

  let going = false; // to the next picture, and not where the reader's slider is
  const next = () => {
    going = true;
    model.set("first", (model.get("first") + 1) % length);
    model.save_changes();
    going = false;
  };
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    draw();
  };
  const advance = () => {
    next();
    if (model.get("first") === length - 1) pause();
  };
  button.addEventListener("click", () => {
    if (timer) return pause();
    if (still()) return next();
    timer = setInterval(advance, 700);
    return advance();
  });
  // Fetched when the first one changes, so that none makes the reader wait.
  const preload = () => {
    for (const frame of data.frames) if (!isDrawing(frame)) new Image().src = frame;
    model.off("change:first", preload);
  };
  model.on("change:first", preload);
  for (const trait of traits) model.on(`change:${trait}`, draw);
  draw();
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    seen.disconnect();
    timer = setInterval(advance, data.plays);
    next(); // from the last to the first
  }, { threshold: 0.5 });
  if (data.plays && !calm()) seen.observe(root);
  const stop = () => {
    if (going) return;
    seen.disconnect();
    if (timer) pause();
  };
  model.on("change:first", stop);
  return () => {
    clearInterval(timer);
    seen.disconnect();
    for (const then of [preload, stop]) model.off("change:first", then);
    for (const trait of traits) model.off(`change:${trait}`, draw);
  };
};

export default { render };
