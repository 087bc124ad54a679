// A reader's state in the fragment of an address: names and values, as a form has them.

import { range } from "./numbers.js";

// Places, counted from 1.
export const count = (/** @type {number[]} */ list) => list.map((index) => index + 1).join(" ");

/** @type {(list: string, size: number, before?: string) => number[]} */
export const listed = (list, size, before = "") =>
  range(size).filter((index) => list.split(" ").includes(`${before}${index + 1}`));

// The heads that are off in each block, as block.head.
export const countHeads = (/** @type {number[][]} */ off) =>
  off.flatMap((heads, b) => heads.map((h) => `${b + 1}.${h + 1}`)).join(" ");

/** @type {(list: string, sizes: { blocks: number, heads: number }) => number[][]} */
export const listHeads = (list, { blocks, heads }) => range(blocks).map((block) => listed(list, heads, `${block + 1}.`));

// This page's address with what is not as at first.
/** @type {(now: Record<string, string>, first: Record<string, string>) => string} */
export const addressOf = (now, first) => {
  const told = Object.entries(now).filter(([name, value]) => value !== first[name]);
  return `${location.href.split("#")[0]}#${new URLSearchParams(told)}`;
};

/** @type {(fragment: string) => Record<string, string>} */
export const readFragment = (fragment) => Object.fromEntries(new URLSearchParams(fragment.slice(1)));

// Whether a fragment that says `told` was read as what would be written `again`; lists may have another order.
/** @type {(told: Record<string, string>, again: Record<string, string>) => boolean} */
export const isWhole = (told, again) => {
  const sorted = (/** @type {string | undefined} */ list) => list?.split(" ").sort().join(" ");
  return Object.keys(again).every((name) => sorted(told[name]) === sorted(again[name]));
};

// Which of its kind a view is on its page, from 1.
/** @type {(root: Element) => number} */
const placeOf = (root) => {
  const kind = root.closest("[data-view]")?.getAttribute("data-view");
  const alike = [...document.querySelectorAll(`[data-view="${kind}"]`)];
  return Math.max(1, alike.findIndex((box) => box.contains(root)) + 1);
};

// A link that leads to this view, also where others of its kind stand before it.
/** @type {(link: string, root: Element) => string} */
export const addPlace = (link, root) => (placeOf(root) > 1 ? link.replace("#", `#at=${placeOf(root)}&`) : link);

// Shows what the address says under `key`, now and whenever it changes; `read` returns null for what is damaged.
/**
 * @template State
 * @param {HTMLElement} root
 * @param {HTMLElement} fault where it is said that a link is damaged
 * @param {string} key
 * @param {(fragment: string) => State | null} read
 * @param {(state: State) => void} show
 */
export const followLinks = (root, fault, key, read, show) => {
  const isLink = () => {
    const told = readFragment(location.hash);
    return key in told && (told.at ?? "1") === String(placeOf(root));
  };
  const follow = () => {
    const to = isLink() ? read(location.hash) : null;
    fault.textContent = !to && isLink() ? "This link could not be read." : "";
    if (to) show(to);
  };
  // What the reader changes is no longer what the link says.
  const forget = () => {
    fault.textContent = "";
    if (isLink()) history.replaceState(history.state, "", location.href.split("#")[0]);
  };
  root.addEventListener("input", forget);
  root.addEventListener("click", forget);
  addEventListener("hashchange", follow);
  follow();
  return () => removeEventListener("hashchange", follow);
};
