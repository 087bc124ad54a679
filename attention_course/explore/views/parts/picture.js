// What is on show as one picture: its maps with their names, on the page's paper, as sharp as print wants it.

/** @import { AttentionData } from "../../types" */
/** @import { Panel, Sight } from "./panels.js" */
import { measureMap, penOf } from "./maps.js";
import { drawMap } from "./panels.js";

const MARGIN = 12;
const ROOM = 15; // CSS pixels for a token: in a picture of a single map all can be read
const SHARP = 1600; // pixels that a picture has across at least

/** @type {(box: HTMLElement, data: AttentionData, panels: Panel[], weights: number[][][], sight: Sight, active: number | null) => HTMLCanvasElement} */
export const drawPicture = (box, data, panels, weights, sight, active) => {
  const { colours } = sight;
  const outer = box.getBoundingClientRect();
  const [single] = panels;
  const alone = panels.length === 1 ? measureMap(data, Math.max(single.at.width, data.keys.length * ROOM + 110), true, colours.font) : null;
  /** @type {(element: Element) => { x: number, y: number }} */
  const place = (element) => {
    const { left, top } = element.getBoundingClientRect();
    return { x: left - outer.left + MARGIN, y: top - outer.top + MARGIN };
  };
  const canvas = document.createElement("canvas");
  const width = Math.max(outer.width, alone?.width ?? 0) + 2 * MARGIN;
  const height = (alone ? place(single.canvas).y + alone.height : outer.height + MARGIN) + MARGIN;
  const scale = Math.max(2, SHARP / width);
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const pen = penOf(canvas);
  pen.scale(scale, scale);
  pen.fillStyle = colours.low;
  pen.fillRect(0, 0, width, height);
  [pen.fillStyle, pen.font, pen.textBaseline] = [colours.ink, colours.font, "top"];
  for (const name of box.querySelectorAll("figcaption, .course-explorer-axis")) {
    const { x, y } = place(name);
    pen.fillText(String(name.textContent), x, y);
  }
  panels.forEach((panel, index) => {
    const { x, y } = place(panel.canvas);
    pen.save();
    pen.translate(x, y);
    drawMap(pen, data, alone ?? panel.at, weights[index], sight, active === null ? null : index === active);
    pen.restore();
  });
  return canvas;
};
