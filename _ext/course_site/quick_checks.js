// Turns each quick check of a page into a form: options, a number, or lines to put in order. The answer stays in its
// <details>. Options cover what follows them until they are answered, up to the next heading or check: it would answer
// them. Lines to put in order cover the next cell, and a number covers what that cell shows.

/** @typedef {{ right?: boolean, say: (string | Node)[] }} Verdict */
/** @typedef {{ controls: HTMLElement, judge: () => Verdict }} Question */

/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, name: string, ...inside: (string | Node)[]) => HTMLElementTagNameMap[Tag]} */
const make = (tag, name, ...inside) => {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...inside);
  return element;
};

/** @type {(name: string, text: string, type?: "button" | "submit") => HTMLButtonElement} */
const makeButton = (name, text, type = "button") => {
  const button = make("button", name, text);
  button.type = type;
  return button;
};

/** @type {(check: HTMLElement) => Element[]} */
const itemsOf = (check) => [...check.querySelectorAll(":scope > ul > li")];

// An item's words, without the paragraph around them.
/** @type {(item: Element) => Node[]} */
const wordsOf = (item) => [...(item.querySelector(":scope > p") ?? item).childNodes];

// Options -------------------------------------------------------------------------------------------

/** @type {(check: HTMLElement, name: string) => Question} */
const askChoice = (check, name) => {
  const replies = [...check.querySelectorAll(".course-check-reply")];
  const explained = String(check.dataset.replies).split(" ").map(Number);
  const options = itemsOf(check).map((item) => {
    const input = make("input", "");
    input.type = "radio";
    input.name = name;
    const label = make("label", "", input, make("span", "", ...wordsOf(item)));
    return { input, label };
  });
  const judge = () => {
    const chosen = options.findIndex(({ input }) => input.checked);
    if (chosen < 0) return { say: ["Choose one of the options first."] };
    if (chosen === Number(check.dataset.right)) return { right: true, say: ["Right."] };
    const reply = replies[explained.indexOf(chosen)].cloneNode(true);
    return { right: false, say: ["Not this one: ", reply, " Try again, or show the answer."] };
  };
  return { controls: make("div", "course-check-options", ...options.map(({ label }) => label)), judge };
};

// A number ------------------------------------------------------------------------------------------

const DECIMAL = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const FRACTION = /^(-?)(?:(\d+) +)?(\d+) *\/ *(\d+)$/;
const THOUSANDS = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/;

// What a text may mean as a number: "1,024" has two meanings, "two" has none.
/** @type {(text: string) => number[]} */
const readings = (text) => {
  const spaced = text.replace(/(\d)(?=[¼-¾⅐-⅞])/g, "$1 "); // one and a half, not eleven halves
  const plain = spaced.normalize("NFKD").replace(/⁄/g, "/").replace(/[−–]/g, "-").replace(/^[\s=≈~]+/, "").trim();
  const unit = plain.endsWith("%") ? 0.01 : 1;
  const written = plain.replace(/ *%$/, "");
  const fraction = FRACTION.exec(written);
  if (fraction) {
    const [, sign, whole, top, bottom] = fraction;
    return [(sign ? -1 : 1) * (Number(whole ?? 0) + Number(top) / Number(bottom)) * unit];
  }
  const compact = written.replace(/\s/g, "");
  const texts = [compact.replace(",", "."), ...(THOUSANDS.test(compact) ? [compact.replace(/,/g, "")] : [])];
  return texts.filter((each) => DECIMAL.test(each)).map((each) => Number(each) * unit);
};

/** @type {(check: HTMLElement, name: string) => Question} */
const askNumber = (check, name) => {
  const shown = String(check.dataset.right);
  const [expected] = readings(shown);
  const digits = shown.split(".")[1]?.length ?? 0;
  const isFraction = /[^-−.\d]/.test(shown);
  const last = 10 ** -digits; // one unit of the last digit
  // A whole number has to be met, a decimal within half a unit of its last digit, a fraction to two digits.
  const within = (digits ? last / 2 : isFraction ? 0.005 : 0) + 1e-9 * Math.max(1, Math.abs(expected));
  const near = digits || isFraction ? Math.max(digits ? last : 0, 0.05 * Math.abs(expected)) + within : within;
  const replies = [...check.querySelectorAll(".course-check-reply")];
  const slips = String(check.dataset.slips).split(" ").map((slip) => readings(slip)[0]);
  const asked = digits ? ` Give ${digits} ${digits === 1 ? "digit" : "digits"} behind the point.` : "";

  const input = make("input", "");
  input.type = "text";
  input.id = `${name}-number`;
  input.autocomplete = "off";
  input.spellcheck = false;
  const label = make("label", "", "Your answer");
  label.htmlFor = input.id;
  const judge = () => {
    const values = readings(input.value);
    const off = Math.min(...values.map((value) => Math.abs(value - expected)));
    if (!values.length) return { say: ["Write a number, such as 0.67, 2/3 or -1.5."] };
    if (off <= within) return { right: true, say: ["Right."] };
    const slip = slips.findIndex((wrong) => values.some((value) => Math.abs(value - wrong) <= within));
    if (slip >= 0) return { right: false, say: ["Not this number: ", replies[slip].cloneNode(true)] };
    if (off <= near) return { right: false, say: [`Close: rounded?${asked}`] };
    if (values.some((value) => Math.abs(value + expected) <= within)) return { right: false, say: ["Look at the sign."] };
    return { right: false, say: ["Not this number. Try again, or show the answer."] };
  };
  return { controls: make("div", "course-check-number", label, input), judge };
};

// Lines to put in order -----------------------------------------------------------------------------

/** @type {(text: string | null) => string} */
const squeeze = (text) => String(text).replace(/\s+/g, " ").trim();

/** @type {(check: HTMLElement, name: string, tell: (text: string) => void) => Question} */
const askOrder = (check, name, tell) => {
  const code = /** @type {HTMLElement} */ (check.querySelector("details pre"));
  const lines = String(code.textContent).split("\n").filter((line) => line.trim());
  const list = make("ol", "course-check-lines");
  /** @type {Map<Element, string>} */
  const lineOf = new Map(); // of each row: what it shows, a browser may have translated

  /** @type {(row: HTMLElement, by: number, text: string) => HTMLButtonElement} */
  const makeMover = (row, by, text) => {
    const button = makeButton("course-check-move", by < 0 ? "↑" : "↓");
    button.setAttribute("aria-label", `Move ${by < 0 ? "up" : "down"}: ${text}`);
    button.addEventListener("click", () => {
      const neighbour = by < 0 ? row.previousElementSibling : row.nextElementSibling;
      if (by < 0) neighbour?.before(row);
      else neighbour?.after(row);
      button.focus();
      const place = [...list.children].indexOf(row) + 1;
      tell(neighbour ? `Now line ${place} of ${lines.length}.` : `Already the ${by < 0 ? "first" : "last"} line.`);
    });
    return button;
  };

  for (const item of itemsOf(check)) {
    const text = squeeze(item.textContent);
    const line = String(lines.find((each) => squeeze(each) === text)); // the answer's: it has the indentation
    const shown = make("code", "", line.trim());
    shown.translate = false;
    shown.style.setProperty("--indent", String(line.search(/\S/)));
    const row = make("li", "", shown);
    row.append(make("span", "course-check-movers", makeMover(row, -1, text), makeMover(row, 1, text)));
    list.append(row);
    lineOf.set(row, line.trim());
  }
  const judge = () => {
    const wrong = [...list.children].findIndex((row, index) => lineOf.get(row) !== lines[index].trim());
    if (wrong < 0) return { right: true, say: [`Right: all ${lines.length} lines are in order.`] };
    const sofar = ["No line from the top is right yet.", "The first line is right."][wrong];
    return { right: false, say: [sofar ?? `The first ${wrong} lines are right.`, " Try again, or show the answer."] };
  };
  return { controls: list, judge };
};

// What is covered -----------------------------------------------------------------------------------

// What follows a check, up to the next heading or the next check.
/** @type {(check: HTMLElement) => HTMLElement[]} */
const restOfSection = (check) => {
  const parts = [];
  for (let part = check.nextElementSibling; part && !part.matches("section, .course-check"); part = part.nextElementSibling) {
    if (part instanceof HTMLElement) parts.push(part);
  }
  return parts;
};

// The cell that follows a check.
/** @type {(check: HTMLElement) => HTMLElement[]} */
const nextCell = ({ nextElementSibling: next }) => (next instanceof HTMLElement && next.matches("div.cell") ? [next] : []);

// What that cell prints and draws.
/** @type {(check: HTMLElement) => HTMLElement[]} */
const nextOutput = (check) => nextCell(check).flatMap((cell) => /** @type {HTMLElement[]} */ ([...cell.querySelectorAll(".cell_output")]));

/** @type {(parts: HTMLElement[]) => string} */
const tellContents = (parts) => {
  const holds = (/** @type {string} */ what) => parts.some((part) => part.matches(what) || part.querySelector(what));
  const kinds = {
    code: holds(".cell_input"),
    output: holds(".cell_output :is(.highlight, .claims, table:not(.course-explorer *))"),
    "a picture": holds(".cell_output :is(img, .course-diagram):not(.course-explorer *)"),
    "something to try": holds(".course-explorer"),
    text: parts.some((part) => !part.matches(".cell, .cell_output")),
  };
  const there = Object.entries(kinds).flatMap(([kind, is]) => (is ? [kind] : []));
  return [there.slice(0, -1).join(", "), ...there.slice(-1)].filter(Boolean).join(" and ");
};

// Covers parts of the page. The function that is returned uncovers them, as does a link to something in them, and says
// whether they were covered.
/** @type {(parts: HTMLElement[]) => () => boolean} */
const cover = (parts) => {
  if (!parts.length) return () => false;
  const button = makeButton("course-check-anyway", "Show anyway");
  const words = make("p", "", `Covered until you answer the question above: ${tellContents(parts)}.`);
  const box = make("div", "course-check-cover", words, button);
  parts[0].before(box);
  const set = (/** @type {boolean} */ covered) => {
    for (const part of parts) {
      part.inert = covered;
      part.classList.toggle("course-check-covered", covered);
    }
  };
  set(true);
  const uncover = () => {
    const covered = box.isConnected;
    set(false);
    box.remove();
    return covered;
  };
  for (const part of parts) part.addEventListener("course-linked", uncover);
  button.addEventListener("click", () => {
    uncover();
    parts[0].tabIndex = -1;
    parts[0].focus();
  });
  return uncover;
};

const followLink = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest(".course-check-covered")) return;
  target.dispatchEvent(new Event("course-linked", { bubbles: true }));
  target.scrollIntoView();
};

// Every check ---------------------------------------------------------------------------------------

const ASK = { choice: askChoice, number: askNumber, order: askOrder };
const PARTS = { choice: restOfSection, number: nextOutput, order: nextCell };

/** @type {(check: HTMLElement) => keyof typeof ASK} */
const kindOf = (check) => /** @type {keyof typeof ASK} */ (check.dataset.kind);

/** @type {(check: HTMLElement, name: string, parts: HTMLElement[]) => void} */
const mount = (check, name, parts) => {
  const answer = /** @type {HTMLDetailsElement} */ (check.querySelector(":scope > details"));
  const result = make("p", "course-check-result");
  result.setAttribute("role", "status");
  /** @type {(verdict: Verdict) => void} */
  const say = ({ right, say }) => {
    result.dataset.verdict = right === undefined ? "" : right ? "right" : "wrong";
    result.replaceChildren(...say);
  };

  const { controls, judge } = ASK[kindOf(check)](check, name, (text) => say({ say: [text] }));
  const uncover = cover(parts);
  check.querySelector(":scope > ul")?.remove();
  const [question, ...more] = [...check.children].filter((part) => part !== answer);
  const legend = make("legend", "", ...question.childNodes);
  const fieldset = make("fieldset", "", legend, ...more, controls);
  const form = make("form", "", fieldset, makeButton("course-check-button", "Check", "submit"), result);
  question.remove();
  answer.before(form);
  /** @type {HTMLElement} */ (answer.querySelector("summary")).textContent = "Show the answer";

  form.addEventListener("input", () => say({ say: [] }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const verdict = judge();
    say(verdict);
    if (verdict.right) {
      answer.open = true;
      check.dispatchEvent(new Event("course-answered"));
    }
    if (verdict.right !== undefined && uncover()) result.append(" What was covered is open now.");
  });
  answer.addEventListener("toggle", () => answer.open && uncover());
};

// Whether a reader, who came before this script, is in the middle of some parts: they would go from under the eyes.
const hasScrolled = scrollY > 0;
/** @type {(parts: HTMLElement[]) => boolean} */
const isBeingRead = (parts) =>
  hasScrolled &&
  parts.length > 0 &&
  parts[0].getBoundingClientRect().top < 0 &&
  parts[parts.length - 1].getBoundingClientRect().bottom > 0;

// All are measured before any is covered, which moves those below.
const checks = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".course-check")]);
const covers = checks.map((check) => PARTS[kindOf(check)](check)).map((parts) => (isBeingRead(parts) ? [] : parts));
checks.forEach((check, index) => mount(check, `course-check-${index}`, covers[index]));
addEventListener("hashchange", followLink);
followLink();
