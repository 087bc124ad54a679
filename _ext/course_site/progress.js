// Remembers, in this browser alone, which questions of a page were answered rightly, and marks the pages in lists.

/** @typedef {Record<string, { total: number, right: string[] }>} Memory */

const KEY = "attention-course";
const ROOT = new URL(document.documentElement.dataset.content_root ?? "./", location.href).href;
const LINKS = "#the-parts a.reference.internal, .bd-sidebar-primary a.reference.internal";

// A page's name within the site, however it is served.
/** @type {(address: string) => string} */
const nameOf = (address) => address.split(/[?#]/)[0].replace(ROOT, "").replace(/\.html$/, "");

const page = nameOf(location.href);
const questions = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-question]")]);
const asked = new Set(questions.map((question) => String(question.dataset.question)));

// Nothing, where the browser keeps nothing or what it kept cannot be read.
/** @type {() => Memory} */
const recall = () => {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
    return Object.fromEntries(kept.filter(([, { right }]) => Array.isArray(right)));
  } catch {
    return {};
  }
};

/** @type {(right: string[]) => void} */
const remember = (right) => {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...recall(), [page]: { total: asked.size, right } }));
  } catch {
    // A browser that keeps nothing has nothing to show either.
  }
};

// Of this page, only questions that it still asks.
const rightHere = () => (recall()[page]?.right ?? []).filter((question) => asked.has(question));

/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, name: string, ...inside: (string | Node)[]) => HTMLElementTagNameMap[Tag]} */
const make = (tag, name, ...inside) => {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...inside);
  return element;
};

const markLinks = () => {
  for (const mark of document.querySelectorAll(".course-progress-mark")) mark.remove();
  const memory = recall();
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINKS))) {
    const { total, right } = memory[nameOf(link.href)] ?? { total: 0, right: [] };
    if (!right.length) continue;
    const count = right.length < total ? `${right.length} of ${total}` : `all ${total}`;
    const spoken = make("span", "visually-hidden", ` ${total === 1 ? "question" : "questions"} answered`);
    link.append(make("span", "course-progress-mark", ` ${count}`, spoken));
  }
};

const box = make("div", "course-progress");
box.setAttribute("role", "status");

const forget = () => {
  localStorage.removeItem(KEY);
  for (const words of document.querySelectorAll(".course-progress-before")) words.remove();
  markLinks();
  box.replaceChildren("This browser remembers no answers now.");
  box.tabIndex = -1;
  box.focus();
};

const tell = () => {
  if (!Object.keys(recall()).length) return box.remove();
  const list = document.getElementById("the-parts");
  const here = `You answered ${rightHere().length} of this page’s ${asked.size} questions.`;
  const words = list ? "Behind a page stands how many of its questions you answered." : here;
  const clear = make("button", "", "Clear it");
  clear.type = "button";
  clear.addEventListener("click", forget);
  box.replaceChildren(`${words} Only this browser remembers it; nothing is sent. `, clear);
  if (!box.isConnected) (list ?? document.querySelector("article.bd-article"))?.append(box);
};

for (const question of questions) {
  question.addEventListener("course-answered", () => {
    remember([...new Set([...rightHere(), String(question.dataset.question)])]);
    markLinks();
    tell();
  });
  if (rightHere().includes(String(question.dataset.question))) {
    question.append(make("p", "course-progress-before", "You answered this one on an earlier visit."));
  }
}
// The front page's own questions, and pages that ask nothing, say it of lists alone.
if (asked.size && rightHere().length) remember(rightHere());
const draw = () => {
  markLinks();
  if (asked.size) tell();
};
draw();
// A page that the reader comes back to, and one in another tab, may have been drawn before an answer.
addEventListener("pageshow", ({ persisted }) => persisted && draw());
addEventListener("storage", draw);
