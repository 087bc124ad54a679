// Search: ranks the places of the course by the words typed, while they are typed.

/**
 * @typedef {{ address: string, title: string, above: string[], text: string, code: string, printed: string,
 *   asked: string, weight: number }} Place
 * @typedef {{ term: string, start: number, end: number }} Word
 * @typedef {{ id: number, terms: string[] }} Found
 * @typedef {{ addAllAsync: (documents: object[], options: object) => Promise<void>,
 *   search: (query: string, options: object) => Found[] }} Library
 * @typedef {{ courseSearch: { places: Place[], same: string[][] }, MiniSearch: new (options: object) => Library }} Given
 */
const MOST_SHOWN = 30;
const EXCERPT = 220; // characters
const PAUSE = 150; // milliseconds after the last key, so that a screen reader is not interrupted by each
const CHUNK = 50; // places that are read in one go, so that the page takes keys meanwhile
const WEIGHTS = { title: 5, asked: 5, above: 1.5, text: 1, code: 1, printed: 0.4 };

const WORD = /√|\d{1,3}(?:,\d{3})+|[\p{L}\p{N}_]+/gu;
const STOP_WORDS = new Set(
  (
    "a about after all also am an and any are as at be because been but by can come could did do does doing for from get " +
    "give had has have how i if in instead into is it its just made make makes may me mean means my need needs no not of " +
    "on or our over s should so some still such t than that the their them then there these they this to too up us use " +
    "used uses using want was way we were what when where which while who why will with without work works would you your"
  ).split(" "),
);

// The names in a name: multi_head_attention and MultiHeadAttention have three.
/** @param {string} word @returns {string[]} */
function partsOf(word) {
  const parts = word.replace(/([a-z0-9])([A-Z][a-z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2").split("_");
  return parts.length > 1 ? [word, ...parts.filter(Boolean)] : parts;
}

// A word without its ending, so that masks, masked and masking are one.
/** @param {string} word */
function stem(word) {
  const plain = word.toLowerCase().replaceAll(",", "");
  if (/^\d+k$/.test(plain)) return String(1024 * parseInt(plain));
  const short = plain.replace(/(?<=[a-z]{2})(ies|y)$/, "i").replace(/(?<=[a-z]{2}[^su])s$/, "");
  return short.replace(/(?<=[aeiouy][a-z]*[a-z])(ing|ed)$/, "").replace(/(?<=[a-z]{2})e$/, "");
}

// Most words come again and again: what each is searched by, once it is known.
/** @type {Map<string, string[]>} */
const stems = new Map();
/** @param {string} word @returns {string[]} */
function termsIn(word) {
  const found = stems.get(word) ?? partsOf(word).map(stem);
  stems.set(word, found);
  return found;
}

/** @param {string} text @returns {Word[]} */
function plainWords(text) {
  return [...text.matchAll(WORD)].flatMap((match) =>
    termsIn(match[0]).map((term) => ({
      term,
      start: match.index,
      end: match.index + match[0].length,
    })),
  );
}

// Every way of saying something, by its first term: what follows it, and the one term that stands for all ways.
/** @type {Map<string, { rest: string[], group: string }[]>} */
const ways = new Map();
/** @param {string[][]} same */
function learnWays(same) {
  for (const group of same) {
    for (const way of group) {
      const [first, ...rest] = [...way.matchAll(WORD)].map((match) => stem(match[0]));
      ways.set(first, [...(ways.get(first) ?? []), { rest, group: `=${group[0]}` }]);
    }
  }
}

// The words of a text, and for each way of saying something that occurs in it a term that all its ways share.
/** @param {string} text @returns {Word[]} */
function wordsOf(text) {
  const words = plainWords(text);
  const said = words.flatMap((word, index) =>
    (ways.get(word.term) ?? [])
      .filter(({ rest }) => rest.every((term, offset) => words[index + 1 + offset]?.term === term))
      .map(({ rest, group }) => ({ term: group, start: word.start, end: words[index + rest.length].end })),
  );
  return [...words, ...said].filter(({ start, end, term }) => term && !STOP_WORDS.has(text.slice(start, end).toLowerCase()));
}

/** @param {string} text */
const termsOf = (text) => wordsOf(text).map(({ term }) => term);

/** @type {Set<string>} */
const known = new Set();
/** @type {Place[]} */
let places;
/** @type {Library} */
let library;
/** @type {Set<string>[]} */
let titles;

/** @param {string} address @returns {Promise<void>} */
function load(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.addEventListener("load", () => done());
    script.addEventListener("error", () => failed(Error(`${address} did not arrive`)));
    script.src = address;
    document.head.append(script);
  });
}

// The list of places is most of what this page weighs: it is asked for with the first question.
async function prepare() {
  await Promise.all(String(form.dataset.needs).split(" ").map(load));
  const { courseSearch, MiniSearch } = /** @type {Given} */ (/** @type {unknown} */ (window));
  learnWays(courseSearch.same);
  places = courseSearch.places;
  library = new MiniSearch({
    fields: Object.keys(WEIGHTS),
    processTerm: (/** @type {string} */ term) => term,
    tokenize: (/** @type {string} */ text) => {
      const terms = termsOf(text);
      terms.forEach((term) => known.add(term));
      return terms;
    },
  });
  // Who asks for code is served by a place that has some.
  await library.addAllAsync(
    places.map((place, id) => ({ ...place, id, above: place.above.join(" "), code: place.code && `code ${place.code}` })),
    { chunkSize: CHUNK },
  );
  titles = places.map(({ title }) => new Set(termsOf(title)));
}
/** @type {Promise<void> | undefined} */
let prepared;

const occurs = (/** @type {string} */ term) => [...known].some((word) => word.startsWith(term));

// The last word may still be growing, and one with which nothing begins may be misspelt. Who types what a place is
// called ("what is a token") is sent there first.
/** @param {string} query */
function find(query) {
  const last = query.match(/[\p{L}\p{N}_]{3,}$/u)?.[0] ?? "";
  const asked = new Set(termsOf(query));
  const isCalled = (/** @type {Found} */ { id }) =>
    titles[id].size === asked.size && [...asked].every((term) => titles[id].has(term));
  const found = library.search(query, {
    tokenize: () => [...asked],
    boost: WEIGHTS,
    boostDocument: (/** @type {number} */ id) => places[id].weight,
    prefix: (/** @type {string} */ term) => term === stem(last),
    fuzzy: (/** @type {string} */ term) => term.length > 4 && !occurs(term) && 0.25,
  });
  return [...found.filter(isCalled), ...found.filter((one) => !isCalled(one))];
}

/** @param {string} name @param {string} className @param {(Node | string)[]} children */
function element(name, className, ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
}

// A piece of a text with the words that were found marked.
/** @param {string} text @param {Set<string>} terms @param {number} start @param {number} end */
function marked(text, terms, start = 0, end = text.length) {
  const hits = wordsOf(text).filter((word) => terms.has(word.term) && word.start >= start && word.end <= end);
  hits.sort((one, other) => one.start - other.start || other.end - one.end);
  const pieces = [];
  let done = start;
  for (const hit of hits) {
    if (hit.start < done) continue;
    pieces.push(text.slice(done, hit.start), element("mark", "", text.slice(hit.start, hit.end)));
    done = hit.end;
  }
  return [...pieces, text.slice(done, end)];
}

// Where the excerpt with the most of the words begins and ends.
/** @param {string} text @param {Set<string>} terms */
function bestPiece(text, terms) {
  const hits = wordsOf(text).filter((word) => terms.has(word.term));
  const within = (/** @type {Word} */ first) =>
    new Set(hits.filter((hit) => hit.start >= first.start && hit.end < first.start + EXCERPT - 60).map((hit) => hit.term));
  const best = hits.reduce(
    (found, hit) => (within(hit).size > found.size ? { size: within(hit).size, start: hit.start } : found),
    { size: 0, start: 0 },
  );
  const start = best.start < 60 ? 0 : text.indexOf(" ", best.start - 60) + 1;
  const end = text.length <= start + EXCERPT ? text.length : text.lastIndexOf(" ", start + EXCERPT);
  return { start, end };
}

/** @param {Found} found */
function result({ id, terms }) {
  const { address, title, above, text } = places[id];
  const wanted = new Set(terms);
  const link = element("a", "", ...marked(title, wanted));
  link.setAttribute("href", address);
  const { start, end } = bestPiece(text, wanted);
  const excerpt = [start > 0 ? "… " : "", ...marked(text, wanted, start, end), end < text.length ? " …" : ""];
  return element(
    "li",
    "",
    element("h2", "", link),
    element("p", "course-search-above", above.join(" › ") || "The whole page"),
    element("p", "course-search-excerpt", ...excerpt),
  );
}

const form = /** @type {HTMLFormElement} */ (document.querySelector(".course-search form"));
const field = /** @type {HTMLInputElement} */ (form.querySelector("input"));
const count = /** @type {HTMLElement} */ (document.querySelector(".course-search-count"));
const list = /** @type {HTMLElement} */ (document.querySelector(".course-search-results"));

/** @param {string} query @param {number} number */
function inWords(query, number) {
  if (!query) return "";
  if (!number) return "Nothing in the course has these words.";
  if (number > MOST_SHOWN) return `The best ${MOST_SHOWN} of ${number} places in the course`;
  return number === 1 ? "One place in the course" : `${number} places in the course`;
}

async function show() {
  if (!titles) count.textContent = "Searching …";
  try {
    await (prepared ??= prepare());
  } catch {
    prepared = undefined; // the next question asks for the list again
    count.textContent = "The list did not arrive: type again.";
    return;
  }
  const query = field.value.trim();
  const found = find(query);
  list.replaceChildren(...found.slice(0, MOST_SHOWN).map(result));
  count.textContent = inWords(query, found.length);
}

// The address follows what is typed, so that a search can be linked. Of a file it cannot be changed.
function keepAddress() {
  if (location.protocol === "file:") return;
  const query = field.value.trim();
  history.replaceState(null, "", query ? `?${new URLSearchParams({ q: query })}` : location.pathname);
}

let timer = 0;
field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => (show(), keepAddress()), PAUSE);
});

form.hidden = false;
field.value = new URLSearchParams(location.search).get("q") ?? "";
if (field.value) show();
else field.focus();
