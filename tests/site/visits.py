"""A page of the built site as a browser saw it: errors, requests, what axe says of it, and measurements."""

from dataclasses import dataclass
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"

SCHEMES = ("light", "dark")
WIDTHS = {"desktop": 1280, "phone": 390}

HERE = Path(__file__).parent
MEASURE = (HERE / "measure.js").read_text()
MARK_KINDS_OF_TEXT = (HERE / "kinds_of_text.js").read_text()

CONTRAST = "color-contrast"


def page_names() -> list[str]:
    """Every page of the built site, relative to its root; `no site` where it is not built.

    The front door, index.html, only leads to the first page.
    """
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return [name for name in names if not name.startswith("_") and name != "index.html"] or ["no site"]


@dataclass
class Visit:
    """What a browser saw on one page."""

    errors: list[str]
    requests: list[str]
    violations: list[str]
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


def run_axe(page: Page, context: dict | None = None, **options) -> list[str]:
    """The violations that axe finds."""
    options = {"preload": False, "resultTypes": ["violations"], **options}
    return describe_violations(Axe().run(page, context=context, options=options).response)


def find_violations(page: Page, scheme: str, width: str) -> list[str]:
    """What axe finds on a page in one mode.

    All rules but that for contrast look at what is there, so each scheme and each width is looked at once. Contrast
    does not depend on the width; most of a long page is text of the same kinds, of which one of each is looked at.
    """
    found = []
    if (scheme, width) in {("light", "desktop"), ("dark", "phone")}:
        found += run_axe(page, rules={CONTRAST: {"enabled": False}})
    if width == "desktop":
        page.evaluate(MARK_KINDS_OF_TEXT)
        found += run_axe(page, {"include": [["[data-kind-of-text]"]]}, runOnly=[CONTRAST])
    return found
