// One head's weights as lines between tokens: queries to choose from, and the chosen one's weights as numbers.

/** @import { AttentionData, Grid, Row } from "../../types" */
/** @import { Colours } from "./maps.js" */
import { make } from "./dom.js";
import { penOf, resize } from "./maps.js";

const WEB = 64; // width of the space that lines cross
const FEW = 400; // weights of which all lines are drawn, not only the chosen query's

export const number = (/** @type {number} */ weight) => weight.toFixed(3);

/** @type {(value: number, low: number, high: number) => number} */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** @type {(parent: Element, data: AttentionData, select: (query: number) => void) => { box: HTMLElement, measure: () => void, draw: (weights: Grid<number>, query: number, allowed: Row<boolean>, gold: Row<boolean> | undefined, colours: Colours) => void }} */
export const makeLines = (parent, data, select) => {
  const box = make(parent, "div", "course-explorer-lines");
  make(box, "span", "course-explorer-head", "query");
  make(box, "span");
  make(box, "span", "course-explorer-head", "weight on each key");
  const queries = make(box, "div", "course-explorer-queries");
  queries.setAttribute("role", "group");
  queries.setAttribute("aria-label", "queries");
  const web = make(box, "canvas");
  web.setAttribute("aria-hidden", "true");
  const row = make(box, "ol", "course-explorer-row");
  row.setAttribute("aria-label", "weights on the keys");
  queries.translate = row.translate = false;

  const buttons = data.queries.map((token) => make(queries, "button", "", token));
  buttons.forEach((button, i) => {
    button.type = "button";
    for (const event of ["focus", "pointerenter", "click"]) button.addEventListener(event, () => select(i));
  });
  const items = data.keys.map((token) => {
    const item = make(row, "li");
    make(item, "span", "", token);
    make(item, "b");
    return item;
  });
  queries.addEventListener("keydown", (event) => {
    const [chosen, last] = [buttons.findIndex((button) => button.tabIndex === 0), buttons.length - 1];
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, Home: 0, End: last };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons[clamp(next, 0, last)].focus();
  });

  /** @type {number[][]} */
  let ends = []; // heights at which lines leave queries and reach keys
  const measure = () => {
    const middle = (/** @type {HTMLElement} */ element) => element.offsetTop - web.offsetTop + element.offsetHeight / 2;
    ends = [buttons.map(middle), items.map(middle)];
    resize(web, WEB, Math.max(queries.offsetHeight, row.offsetHeight));
  };

  /** @type {(weights: Grid<number>, query: number, colours: Colours) => void} */
  const drawLines = (weights, query, colours) => {
    const pen = penOf(web);
    pen.clearRect(0, 0, web.width, web.height);
    /** @type {(i: number, j: number, weight: number, alpha: number) => void} */
    const line = (i, j, weight, alpha) => {
      pen.globalAlpha = alpha;
      pen.lineWidth = 0.5 + 6 * weight;
      pen.beginPath();
      pen.moveTo(0, ends[0][i]);
      pen.bezierCurveTo(WEB / 2, ends[0][i], WEB / 2, ends[1][j], WEB, ends[1][j]);
      pen.stroke();
    };
    /** @type {(i: number, strength: (weight: number) => number) => void} */
    const all = (i, strength) => weights[i].forEach((weight, j) => weight > 0.005 && line(i, j, weight, strength(weight)));
    pen.strokeStyle = colours.quiet;
    const few = weights.length * weights[0].length <= FEW;
    if (few) weights.forEach((_, i) => i !== query && all(i, (weight) => 0.25 * weight));
    pen.strokeStyle = colours.line;
    all(query, (weight) => 0.3 + 0.7 * weight);
    pen.globalAlpha = 1;
  };

  return {
    box,
    measure,
    draw: (weights, query, allowed, gold, colours) => {
      drawLines(weights, query, colours);
      items.forEach((item, key) => {
        item.children[1].textContent = allowed[key] ? number(weights[query][key]) : "masked 0.000";
        item.classList.toggle("course-explorer-gold", Boolean(gold?.[key]));
        item.classList.toggle("course-explorer-dashed", Boolean(gold?.[key] && data.frames?.dashed[query][key]));
        item.style.setProperty("--weight", String(weights[query][key]));
      });
      buttons.forEach((button, i) => {
        button.setAttribute("aria-pressed", String(i === query));
        button.tabIndex = i === query ? 0 : -1;
      });
    },
  };
};
