"""A page of the built site as a browser saw it: errors, requests, what axe says of it, and measurements."""

import re
from functools import cache
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from built_site import SITE, WIDTHS, page_names
from choosing import weekly
from lessons import IN_ORDER
from playwright.sync_api import Page

LESSONS = {f"chapters/{name}.html" for name in IN_ORDER}
SCHEMES = ("light", "dark")

# Each scheme and each width once: every page of the course is looked at in these two modes.
ON_A_PHONE = ("dark", "phone")
ON_A_DESKTOP = ("light", "desktop")
TWO_MODES = [ON_A_DESKTOP, ON_A_PHONE]
# And these in all four. They stand for the others, which are made by the same templates, styles and scripts.
IN_ALL_MODES = {
    "intro.html",
    "glossary.html",
    "search.html",
    "chapters/efficient.html",
    "chapters/scale.html",
    "chapters/self_attention.html",
    "api/efficient.performer.html",
}
# Of the pages of the reference, which are made alike, those that are looked at on each change: a package and a module,
# with much code and little, with formulas and without.
OF_THE_REFERENCE = {"api/efficient.html", "api/efficient.performer.html", "api/masks.html", "api/explore.html"}
# The page that is looked at in all four modes on each change: the one with the most kinds of things on it.
ALWAYS_IN_ALL_MODES = "chapters/self_attention.html"

SCRIPT = re.compile(r'<script[^>]*\ssrc="([^"]+)"')
VIEW = re.compile(r'\sdata-view="([^"]+)"')

HERE = Path(__file__).parent
AS_OPENED = (HERE / "as_opened.js").read_text()
MEASURE = (HERE / "measure.js").read_text()
OFF_SCREEN = (HERE / "off_screen.js").read_text()
WRAPPED = (HERE / "wrapped.js").read_text()
DIAGRAM_FAULTS = (HERE / "diagrams.js").read_text()
MARK_KINDS_OF_TEXT = (HERE / "kinds_of_text.js").read_text()
MAKE_PLAIN = (HERE / "plain.js").read_text()

# Most of a long page is text of the same kinds: contrast is computed for one of each. What is touched has 24 px, or as
# much room around (WCAG 2.2), in the article.
WHAT_AXE_LOOKS_AT = """axe.configure({rules: [
  {id: "color-contrast", selector: "[data-kind-of-text]"},
  {id: "target-size", selector: "article *"},
]})"""


def modes_of(page_name: str) -> list[tuple[str, str]]:
    """The schemes and widths in which a page is looked at: of the reference, every other page in the other mode."""
    if page_name in IN_ALL_MODES:
        return list(product(SCHEMES, WIDTHS))
    return [TWO_MODES[crc32(page_name.encode()) % 2]] if is_one_of_many(page_name) else TWO_MODES


def is_one_of_many(page_name: str) -> bool:
    """Whether a page of the reference is made as all others of it, of which those in all modes stand for it."""
    return page_name.startswith("api/") and page_name not in IN_ALL_MODES


def is_for_the_week(page_name: str, mode: tuple[str, str]) -> bool:
    """Whether a page is looked at in a mode in `make test ALL=1` alone.

    On each change every page of the course is seen on a phone, and one of each kind on a desktop.
    """
    if page_name == ALWAYS_IN_ALL_MODES:
        return False
    if page_name.startswith("api/"):
        return page_name not in OF_THE_REFERENCE or mode != modes_of(page_name)[-1]
    return mode != ON_A_PHONE and not (mode == ON_A_DESKTOP and page_name in one_of_each_kind())


def visits() -> list:
    """Every page in its modes, as parameters of a test."""
    looked_at = [(name, *mode) for name in page_names() for mode in modes_of(name)]
    return [weekly(visit) if is_for_the_week(visit[0], visit[1:]) else visit for visit in looked_at]


@cache
def scripts_and_views() -> dict[str, frozenset[str]]:
    """What each page loads and holds, but for those of the reference."""
    names = [name for name in page_names() if not is_one_of_many(name)]
    texts = {name: (SITE / name).read_text(encoding="utf8") if name != "no site" else "" for name in names}
    scripts = {name: {Path(urlsplit(found).path).name for found in SCRIPT.findall(texts[name])} for name in names}
    return {name: frozenset(scripts[name]) | {f"view {view}" for view in VIEW.findall(texts[name])} for name in names}


def one_of_each_kind() -> list[str]:
    """Of all pages that load the same scripts and hold the same views, the first."""
    return list({kind: name for name, kind in reversed(scripts_and_views().items())}.values())


@cache
def with_everything() -> list[str]:
    """A few pages that together load every script and hold every view: always the one with the most that is new."""
    pages, left, chosen = scripts_and_views(), frozenset().union(*scripts_and_views().values()), []
    while left:
        chosen.append(max(pages, key=lambda name: len(pages[name] & left)))
        left -= pages[chosen[-1]]
    return chosen


def describe_violations(results: dict) -> list[str]:
    """One line for every rule of axe that an element breaks."""
    return [
        f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for rule in results["violations"]
        for node in rule["nodes"]
    ]


def run_axe(page: Page, context: dict | None = None, configuration: str = "", **options) -> list[str]:
    """The violations that axe finds."""
    options = {"preload": False, "resultTypes": ["violations"], "selectors": False, **options}  # nobody reads selectors
    axe = Axe(f"{AXE_SCRIPT}\n{configuration}")
    return describe_violations(axe.run(page, context=context, options=options).response)


def find_violations(
    page: Page, target_size: bool = False, contrast: bool = True, contrast_alone: bool = False
) -> list[str]:
    """What axe finds on a page, in one run; also controls in the article that are too small, if asked for.

    It leaves the page's code without most of its colours, and its formulas without their boxes.
    """
    page.evaluate(MARK_KINDS_OF_TEXT)
    page.evaluate(MAKE_PLAIN)
    rules = {"target-size": {"enabled": target_size}, "color-contrast": {"enabled": contrast}}
    chosen = {"runOnly": ["color-contrast"]} if contrast_alone else {"rules": rules}
    return run_axe(page, configuration=WHAT_AXE_LOOKS_AT, **chosen)


# As an explorer of steps shows them: every state, not the first alone.
ADVANCE = """() => {
  const buttons = [...document.querySelectorAll(".course-explorer-view:has(svg.course-diagram) .course-explorer-play")];
  for (const button of buttons) button.click();
  return buttons.length;
}"""
STATES = 12  # more than any explorer has


def find_diagram_faults(page: Page) -> list[str]:
    """What cannot be read of the diagrams of a page. It leaves their explorers in other states."""
    faults = page.evaluate(DIAGRAM_FAULTS)
    for _ in range(STATES if page.evaluate(ADVANCE) else 0):
        faults += page.evaluate(DIAGRAM_FAULTS)
        page.evaluate(ADVANCE)
    return sorted(set(faults))
