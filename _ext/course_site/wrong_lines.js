// Lets readers tap the wrong lines of the code below a fold that quotes them: each line of the code is a button.

/** @type {(text: string | null) => string} */
const squeeze = (text) => String(text).replace(/\s+/g, " ").trim();

const NUMBERS = ["No", "One", "Two", "Three", "Four"];

/** @type {(count: number, more?: string) => string} */
const tellCount = (count, more = "") => `${NUMBERS[count]}${more} ${count === 1 ? "line is" : "lines are"} wrong.`;

// What a list says of each line that it quotes.
/** @type {(list: Element | undefined) => Map<string, Node>} */
const readReasons = (list) =>
  new Map(
    [...(list?.children ?? [])].map((item) => [
      squeeze(/** @type {Element} */ (item.querySelector("code")).textContent),
      /** @type {Node} */ (item.querySelector(".course-check-reply")),
    ]),
  );

/** @type {(fold: HTMLElement) => void} */
const mount = (fold) => {
  const below = /** @type {HTMLElement} */ (fold.nextElementSibling);
  const code = below.querySelector(".cell_input") ?? below;
  const [wrong, right] = [0, 1].map((index) => readReasons(fold.querySelectorAll("ul")[index]));
  const count = Number(fold.dataset.wrong);
  /** @type {Set<string>} */
  const found = new Set();

  const task = document.createElement("p");
  task.className = "course-wrong-task";
  task.textContent = `${tellCount(count)} Tap ${count === 1 ? "it" : "them"} in the code below.`;
  fold.prepend(task);
  /** @type {HTMLElement} */ (fold.querySelector("summary")).textContent = "Show the answer";

  const result = document.createElement("p");
  result.className = "course-wrong-result";
  result.setAttribute("role", "status");
  code.after(result);
  code.setAttribute("role", "group");
  code.setAttribute("aria-label", `Code: ${tellCount(count)}`);

  /** @type {(line: HTMLElement, text: string) => void} */
  const tap = (line, text) => {
    const reason = (wrong.get(text) ?? right.get(text))?.cloneNode(true);
    const isWrong = wrong.has(text);
    line.dataset.verdict = isWrong ? "wrong" : "right";
    if (isWrong) found.add(text);
    const left = count - found.size;
    if (isWrong && !left) fold.dispatchEvent(new Event("course-answered"));
    const next = left ? ` ${tellCount(left, found.size ? " more" : "")}` : "";
    if (isWrong) result.replaceChildren("Found: ", reason ?? "", left ? next : count > 1 ? " That was the last one." : "");
    else if (reason) result.replaceChildren("This line is right: ", reason);
    else result.replaceChildren(`This line is right.${next}`);
  };

  for (const line of /** @type {NodeListOf<HTMLElement>} */ (code.querySelectorAll(".code-line"))) {
    const text = squeeze(line.textContent);
    if (!/\w/.test(text) || text.startsWith("check(")) continue;
    line.setAttribute("role", "button");
    line.tabIndex = 0;
    line.addEventListener("click", () => tap(line, text));
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      tap(line, text);
    });
  }
};

for (const fold of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".course-wrong-lines"))) mount(fold);
