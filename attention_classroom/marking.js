// Marking by hand, one answer at a time. Whatever an answer says is set as text, and never as HTML.

/** @typedef {{ open: boolean, asked: string, good: string, mistakes: string[][] }} Task */
/** @typedef {{ row: string[], said: string, source: string, run: string }} Answer A row is a line of decided.csv */
/** @typedef {{ of: string, head: string[], tasks: Record<string, Task>, answers: Answer[], others: string[][] }} Data */
/** @typedef {{ points: string, comment: string }} Mark */

const [STUDENT, EXERCISE, POINTS, OF, COMMENT] = [0, 1, 2, 3, 5];
const FORMULA = /^[=+\-@]/; // what a spreadsheet takes for one has an apostrophe in front

/** @type {(id: string) => HTMLElement} */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {(id: string) => HTMLInputElement} */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));
/** @type {(id: string, text: string) => void} */
const write = (id, text) => {
  find(id).textContent = text;
};

/** @type {Data} */
const data = JSON.parse(find("data").textContent ?? "");
const [points, comment, which] = [input("points"), input("comment"), find("which")];

/** @type {(row: string[]) => Mark} */
const markOf = (row) => {
  const text = row[COMMENT] ?? "";
  return { points: row[POINTS].trim(), comment: /^'[=+\-@]/.test(text) ? text.slice(1) : text };
};
const inTable = data.answers.map(({ row }) => markOf(row));
const marks = inTable.map((mark) => ({ ...mark }));
let shown = Math.max(marks.findIndex((mark) => !mark.points), 0);

/** @type {(text: string, i: number) => boolean} */
const isGiven = (text, i) => {
  const number = /^(\d+([.,]\d*)?|[.,]\d+)?$/.test(text) ? Number(text.replace(",", ".")) : NaN;
  return number <= Number(data.answers[i].row[OF]);
};

// What is typed is kept in this browser until it stands in the table: a table that has changed counts.
const KEY = `marking ${data.of}`;
/** @type {(i: number) => string} */
const nameOf = (i) => JSON.stringify([data.answers[i].row[STUDENT], data.answers[i].row[EXERCISE]]);
/** @type {(one: Mark, other: Mark) => boolean} */
const areEqual = (one, other) => one.points === other.points && one.comment === other.comment;

const keep = () => {
  const typed = marks.flatMap((now, i) => (areEqual(now, inTable[i]) ? [] : [[nameOf(i), { now, was: inTable[i] }]]));
  try {
    localStorage.setItem(KEY, JSON.stringify({ nameless: input("nameless").checked, typed: Object.fromEntries(typed) }));
    write("kept", typed.length ? "What is not in decided.csv is kept in this browser." : "");
  } catch {
    write("kept", "This browser keeps nothing: download the table before you leave.");
  }
  write("progress", `${marks.filter((mark) => mark.points).length} of ${marks.length} have points.`);
};

const remember = () => {
  try {
    const { nameless, typed } = JSON.parse(localStorage.getItem(KEY) ?? '{ "typed": {} }');
    input("nameless").checked = nameless === true;
    marks.forEach((mark, i) => {
      const { now, was } = typed[nameOf(i)] ?? {};
      if (now && areEqual(was, inTable[i])) Object.assign(mark, now);
    });
  } catch {
    // Nothing is kept here.
  }
};

const show = () => {
  const { row, said, source, run } = data.answers[shown];
  const task = data.tasks[row[EXERCISE]];
  const student = input("nameless").checked ? "" : `, ${row[STUDENT]}`;
  write("which", `${row[EXERCISE]}: ${shown + 1} of ${marks.length}${student}`);
  write("of", row[OF]);
  write("source", source || "There is no cell that names this exercise.");
  write("said", said);
  write("run", run);
  find("ran").hidden = !run;
  find("figures").hidden = !task.open;
  write("asked", task.asked || "The lesson's notebook was not beside assignment.json.");
  write("better", task.open ? "What a good answer shows" : "A solution");
  write("good", task.good || "See the lesson.");
  find("good").classList.toggle("words", task.open);
  find("known").hidden = !task.mistakes.length;
  find("mistakes").replaceChildren(
    ...task.mistakes.flatMap((texts) =>
      texts.map((text, place) => Object.assign(document.createElement(place ? "dd" : "dt"), { textContent: text })),
    ),
  );
  points.value = marks[shown].points;
  comment.value = marks[shown].comment;
  note("");
};

/** @type {(problem: string) => void} */
const note = (problem) => {
  write("problem", problem);
  points.setAttribute("aria-invalid", String(problem !== ""));
};

/** @type {(step: number) => void} */
const go = (step) => {
  shown = Math.min(Math.max(shown + step, 0), marks.length - 1);
  show();
  which.focus();
};

/** @type {(row: string[]) => string} */
const line = (row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");

const table = () => {
  const rows = data.answers.map(({ row }, i) => {
    const text = marks[i].comment.trim().replace(/\s+/g, " ");
    const [student, exercise, , of, said] = row;
    return [student, exercise, marks[i].points.replace(",", "."), of, said, text.replace(FORMULA, "'$&")];
  });
  return `\ufeff${[data.head, ...rows, ...data.others].map(line).join("\r\n")}\r\n`;
};

/** @type {(text: string) => string[][]} */
const parse = (text) => {
  const comma = text.split("\n", 1)[0].includes(";") ? ";" : ",";
  /** @type {string[][]} */
  const rows = [[]];
  for (const [, cell, end] of text.matchAll(new RegExp(`("(?:[^"]|"")*"|[^${comma}\r\n]*)(${comma}|\r?\n|$)`, "g"))) {
    rows[rows.length - 1].push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== comma) rows.push([]);
  }
  return rows;
};

/** @type {(text: string) => void} */
const load = (text) => {
  const read = new Map(parse(text).filter((row) => row.length > POINTS).map((row) => [line(row.slice(0, POINTS)), row]));
  let count = 0;
  data.answers.forEach(({ row }, i) => {
    const found = read.get(line(row.slice(0, POINTS)));
    if (!found || !isGiven(found[POINTS].trim(), i)) return;
    marks[i] = markOf(found);
    count += 1;
  });
  keep();
  show();
  write("progress", `${count} of ${marks.length} read from the table. ${find("progress").textContent}`);
};

points.addEventListener("input", () => {
  const text = points.value.trim();
  const isRight = isGiven(text, shown);
  note(isRight ? "" : `Not kept: a number from 0 to ${data.answers[shown].row[OF]}, please.`);
  if (!isRight) return;
  marks[shown].points = text;
  keep();
});
comment.addEventListener("input", () => {
  marks[shown].comment = comment.value;
  keep();
});
input("nameless").addEventListener("change", () => {
  keep();
  show();
});
find("back").addEventListener("click", () => go(-1));
find("next").addEventListener("click", () => go(1));
find("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.download = "decided.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
});
input("load").addEventListener("change", async () => {
  const file = input("load").files?.[0];
  if (file) load(await file.text());
  input("load").value = ""; // so that the same file can be read again
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") which.focus();
  if (event.target === comment) return;
  const isTyping = event.target === points;
  if (event.key === "ArrowRight" && !isTyping) go(1);
  if (event.key === "ArrowLeft" && !isTyping) go(-1);
  if (event.key === "Enter" && isTyping) go(1);
  if (!input("letters").checked || !/^[jkc\d]$/.test(event.key) || (isTyping && /\d/.test(event.key))) return;
  if (/\d/.test(event.key)) {
    points.focus();
    points.select(); // the digit takes the place of what stands there
    return;
  }
  event.preventDefault();
  if (event.key === "c") comment.focus();
  else go(event.key === "j" ? 1 : -1);
});

remember();
shown = Math.max(marks.findIndex((mark) => !mark.points), 0);
keep();
show();
