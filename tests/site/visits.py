"""A page of the built site as a browser saw it: errors, requests, what axe says of it, and measurements."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

import yaml
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from third import third_of

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"

MOVED = yaml.safe_load((ROOT / "_moved.yml").read_text())

SCHEMES = ("light", "dark")
WIDTHS = {"desktop": 1280, "phone": 390}
HEIGHTS = {"desktop": 900, "phone": 844}

# Each scheme and each width once: a page is looked at in these two modes, or in one of them.
ON_A_PHONE = ("dark", "phone")
TWO_MODES = [("light", "desktop"), ON_A_PHONE]
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


@cache
def page_names() -> list[str]:
    """Every page of the built site, relative to its root; `no site` where it is not built.

    The front door, index.html, only leads to the first page, and an old address to the new one. 404.html is for a host:
    see test_not_found.py.
    """
    no_pages = {"index.html", "404.html", *(f"{old}.html" for old in MOVED)}
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return [name for name in names if not name.startswith("_") and name not in no_pages] or ["no site"]


def modes_of(page_name: str) -> list[tuple[str, str]]:
    """The schemes and widths in which a page is looked at: of the reference, every other page in the other mode."""
    if page_name in IN_ALL_MODES:
        return list(product(SCHEMES, WIDTHS))
    if is_one_of_many(page_name):
        return [TWO_MODES[crc32(page_name.encode()) % 2]]
    return [ON_A_PHONE] if page_name in seen_on_a_phone_alone() else TWO_MODES


def is_one_of_many(page_name: str) -> bool:
    """Whether a page of the reference is made as all others of it, of which those in all modes stand for it."""
    return page_name.startswith("api/") and page_name not in IN_ALL_MODES


def visited_pages() -> list[str]:
    """The pages that are looked at: of those of the reference that are made alike, a third."""
    many = [name for name in page_names() if is_one_of_many(name)]
    left_out = set(many) - set(third_of(many))
    return [name for name in page_names() if name not in left_out]


@cache
def one_of_each_kind() -> list[str]:
    """Of all pages that load the same scripts and hold the same views, the first."""
    kinds = {}
    for name in filter(lambda name: not is_one_of_many(name), page_names()):
        text = (SITE / name).read_text(encoding="utf8") if name != "no site" else ""
        scripts = {Path(urlsplit(address).path).name for address in SCRIPT.findall(text)}
        kinds.setdefault((*sorted(scripts), *sorted(set(VIEW.findall(text)))), name)
    return list(kinds.values())


def seen_on_a_phone_alone() -> set[str]:
    """Of the pages that stand for no others, those that are not in the third that is seen on a desktop too."""
    standing = {*IN_ALL_MODES, *one_of_each_kind()}
    others = [name for name in page_names() if name not in standing and not is_one_of_many(name)]
    return set(others) - set(third_of(others))


@dataclass
class Visit:
    """What a browser saw on one page.

    Attributes:
        requests: The addresses of all that it loaded, its folds open.
        asked_for: The addresses of what it loaded before anything was opened.
        as_opened: Where the exercises begin and the first picture ends, in pixels, before anything is opened.
        off_screen: What is meant to be read and cannot be, by kind.
        wide_code: How many boxes of code or of printed results scroll sideways.
        wrapped: For each line of code that wraps: its spaces, and where its second row starts.
        diagram_faults: What cannot be read of the diagrams, in any state of their explorers.
    """

    errors: list[str]
    requests: list[str]
    asked_for: list[str]
    violations: list[str]
    as_opened: dict[str, float | None]
    off_screen: dict[str, list[str]]
    wide_code: int
    wrapped: list[tuple[int, float, float]]
    diagram_faults: list[str]
    overflow: list[str]
    background: float
    squashed: list[str]
    figures: list[tuple[float, float]]
    formulas: int
    unrendered_formulas: list[str]
    fonts: list[str]
    explorers: int
    mounted_explorers: int


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
