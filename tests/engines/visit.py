"""What a reader can do on a page, done once: checks answered, folds opened, sliders and buttons moved."""

import time

SLIDERS = ".course-explorer input[type=range]"
PLAY = ".course-explorer-play"
FOLDS = "details.fold > summary"
CHECKS = ".course-check form"
WORDS = ".course-term"

OPEN_VIEWS = "document.querySelectorAll('.course-explorer details').forEach((box) => { box.open = true; })"

# Live models load when they are seen: what stands below them moves, and their sliders come.
MODELS = ".course-live"
NOT_STARTED = f"""[...document.querySelectorAll({MODELS!r})]
  .filter((view) => view.checkVisibility({{ visibilityProperty: true }}) && !view.explorer)
  .map((view) => view.textContent.slice(0, 60))"""
PATIENCE = 20  # seconds

UNMOUNTED = """[...document.querySelectorAll(".course-explorer")]
  .filter((box) => !box.querySelector(".course-explorer-view")).map((box) => box.dataset.view)"""
UNDRAWN = """[...document.querySelectorAll(".bd-article .math")]
  .filter((math) => !(math.querySelector(".katex-html")?.getBoundingClientRect().width > 0
    || math.closest("details:not([open]), .course-entry")))
  .map((math) => math.textContent.slice(0, 60))"""

# The letter that is written into a state.
GROUNDLESS = """[...document.querySelectorAll(".course-state-new td:last-child")].map((cell) =>
  getComputedStyle(cell).backgroundColor).filter((ground) => ["transparent", "rgba(0, 0, 0, 0)"].includes(ground))"""

# What a view says it shows, and what it shows.
SHOWN = """(() => {{
  const box = document.querySelectorAll({selector!r})[{index}].closest(".course-explorer");
  const view = box.querySelector(".course-explorer-view");
  const drawn = [...view.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()).join();
  return [JSON.stringify(view.explorer.state), view.innerHTML + drawn];
}})()"""


def look_at(engine) -> dict[str, list]:
    """Do everything on the page that is open: what did not answer a key or a click, under the name of its kind."""
    load_models(engine)
    checks = answer_checks(engine)  # before folds: they cover outputs
    folds = open_folds(engine)
    engine.evaluate(OPEN_VIEWS)  # no key reaches a slider in a closed fold
    dead = {
        "quick checks that do not tell wrong from right": checks,
        "folds that do not open": folds,
        "dead sliders": [name for index in range(count(engine, SLIDERS)) for name in move_slider(engine, index)],
        "dead play buttons": [name for index in range(count(engine, PLAY)) for name in press_play(engine, index)],
        "words whose entry does not open or close": open_words(engine),
    }
    return {name: what for name, what in dead.items() if what}


def find_faults(engine) -> dict[str, list]:
    """What is wrong with the page that is open, besides what is dead."""
    faults = {
        "thrown, logged, refused or missing": engine.evaluate("window.courseErrors"),
        "explorers that are not mounted": engine.evaluate(UNMOUNTED),
        "live models that did not start": engine.evaluate(NOT_STARTED),
        "formulas that are not drawn": engine.evaluate(UNDRAWN),
        "letters without a ground": engine.evaluate(GROUNDLESS),
    }
    return {name: what for name, what in faults.items() if what}


def count(engine, selector: str) -> int:
    return engine.evaluate(f"document.querySelectorAll({selector!r}).length")


def load_models(engine) -> None:
    """Scroll to each live model, and wait until all that are not covered have answered and said all they have to say.

    Covered ones load when a check is answered: what stands below them moves, and a click on the next check would miss.
    """
    if not count(engine, MODELS):
        return
    for index in range(count(engine, MODELS)):
        engine.evaluate(f"document.querySelectorAll({MODELS!r})[{index}].scrollIntoView({{ behavior: 'instant' }})")
        time.sleep(0.1)  # the page says what is seen once a frame
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and engine.evaluate(NOT_STARTED):
        time.sleep(0.05)
    height = 0
    while time.monotonic() < deadline and height != (now := engine.evaluate("document.body.scrollHeight")):
        height = now
        time.sleep(0.2)  # a translator writes a word sooner


def move_slider(engine, index: int) -> list[str]:
    """The slider's name, if a key pressed on it does not change what the view says and shows."""
    slider = f"document.querySelectorAll({SLIDERS!r})[{index}]"
    before = engine.evaluate(SHOWN.format(selector=SLIDERS, index=index))
    at_its_end = engine.evaluate(f"{slider}.value === {slider}.max")
    engine.press(SLIDERS, index, "Home" if at_its_end else "End")
    after = engine.evaluate(SHOWN.format(selector=SLIDERS, index=index))
    alive = all(old != new for old, new in zip(before, after, strict=True))
    return [] if alive else [engine.evaluate(f"{slider}.dataset.control")]


def press_play(engine, index: int) -> list[str]:
    """The button's words, if it does not show the next picture."""
    before = engine.evaluate(SHOWN.format(selector=PLAY, index=index))
    engine.click(PLAY, index)
    after = engine.evaluate(SHOWN.format(selector=PLAY, index=index))
    alive = all(old != new for old, new in zip(before, after, strict=True))
    return [] if alive else [engine.evaluate(f"document.querySelectorAll({PLAY!r})[{index}].textContent")]


def open_folds(engine) -> list[str]:
    """The folds that do not open: the first by a click, all by the button over the page."""
    if not count(engine, FOLDS):
        return []
    closed = """[...document.querySelectorAll("details.fold")].filter((fold) => !fold.open
        || !fold.querySelector("pre").getBoundingClientRect().height).map((fold) => fold.textContent.slice(0, 60))"""
    engine.click(FOLDS)
    first = engine.evaluate(closed)
    if not first or len(first) != count(engine, FOLDS) - 1:
        return first  # none is left for the button, or the click did nothing
    engine.click(".show-all-code")
    return engine.evaluate(closed)


def answer_checks(engine) -> list[str]:
    """The quick checks that do not tell a wrong option from the right one."""
    dead = []
    for index in range(count(engine, CHECKS)):
        here = f"document.querySelectorAll({CHECKS!r})[{index}]"
        verdict = f"{here}.querySelector('.course-check-result').dataset.verdict ?? ''"
        if engine.evaluate(f"{here}.closest('.course-check').dataset.kind") != "choice":
            continue
        right = int(engine.evaluate(f"{here}.closest('.course-check').dataset.right"))
        said = []
        for option in ((right + 1) % 2, right):
            engine.evaluate(f"{here}.dataset.tried = {index}")
            engine.click(f"form[data-tried='{index}'] input", option)
            engine.click(f"form[data-tried='{index}'] .course-check-button")
            said.append(engine.evaluate(verdict))
        if said != ["wrong", "right"]:
            dead.append(f"{engine.evaluate(f'{here}.textContent')[:60]}: {said}")
        load_models(engine)  # those it covered: the next check moves when they come
    return dead


def open_words(engine) -> list[str]:
    """The page's first word of the glossary, if a click or a key does not open its entry, or does not close it."""
    if not count(engine, WORDS):
        return []
    opened = "document.querySelectorAll('.course-entry:popover-open').length"
    seen = []
    for act in (engine.click, lambda word, index: engine.press(word, index, "Enter")):
        for _ in range(2):
            act(WORDS, 0)
            seen.append(engine.evaluate(opened))
    return (
        [] if seen == [1, 0, 1, 0] else [f"{engine.evaluate(f'document.querySelector({WORDS!r}).textContent')}: {seen}"]
    )
