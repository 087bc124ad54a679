"""The built site in a real browser: a page is opened in one of its modes, and what was seen there is told."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from built_site import HEIGHTS, SITE, WIDTHS, page_names
from choosing import weekly
from explorer_pages import show  # noqa: F401
from live_models import one_model, open_model, trained, two_models  # noqa: F401
from live_translators import model, open_translator  # noqa: F401
from sample_book import alone, open_sample, sample, sample_host  # noqa: F401
from serving import BOOK, serving
from visits import (
    AS_OPENED,
    LESSONS,
    MEASURE,
    OFF_SCREEN,
    SCHEMES,
    TWO_MODES,
    WRAPPED,
    find_diagram_faults,
    find_violations,
    is_one_of_many,
    modes_of,
)

UNCOVER = "for (const button of document.querySelectorAll('.course-check-anyway')) button.click()"
OPEN_FOLDS = """async () => {
  for (const box of document.querySelectorAll("details")) box.open = true;
  scrollTo(0, 0); // what was uncovered has taken the focus, and the page went there
  // What waits until it is near comes now.
  const images = [...document.querySelectorAll("img[src]")];
  for (const image of images) image.loading = "eager";
  await Promise.all(images.map((image) => image.decode()));
  await document.fonts.ready;
  // What was in closed folds is fitted in the frame after they tell that they are open.
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const isLoading = (view) => view.checkVisibility() && view.getBoundingClientRect().top < innerHeight;
  for (let frame = 0; frame < 300; frame++) {
    if (![...document.querySelectorAll(".course-live[aria-busy]")].some(isLoading)) break;
    await new Promise(requestAnimationFrame);
  }
}"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for a page runs on each, and one that asks for a scheme, a width or both in each mode.

    Of both, on each change, in two modes.
    """
    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    asked = {name for name in metafunc.fixturenames if not any(name in names for names in given)}
    if "page_name" in asked:
        metafunc.parametrize("page_name", page_names())
    if {"scheme", "width"} <= asked:
        modes = product(SCHEMES, WIDTHS)
        metafunc.parametrize(("scheme", "width"), [mode if mode in TWO_MODES else weekly(mode) for mode in modes])
    elif "scheme" in asked:
        metafunc.parametrize("scheme", SCHEMES)
    elif "width" in asked:
        metafunc.parametrize("width", WIDTHS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the pages last: each takes seconds, so that no worker waits for the other's small book at the end."""
    items.sort(key=lambda item: ".html" in item.nodeid)


# Boxes of code and of printed results, which wrap, that scroll sideways all the same.
WIDE_CODE = "[...document.querySelectorAll('pre')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    if not (SITE / "intro.html").exists():
        pytest.fail("there is no built site in _build/html: run `make site` first", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    """The address of the site on a local server, as strict as the theme allows."""
    with serving(site, BOOK) as address:
        yield address


class Tab:
    """A page of the browser in one mode, which goes from address to address: a new one takes longer than to go on."""

    def __init__(self, browser, scheme: str, width: str):
        viewport = {"width": WIDTHS[width], "height": HEIGHTS[width]}
        self.context = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce")
        self.page = page = self.context.new_page()
        self.errors, self.requests, self.crashed = [], [], False
        page.set_default_timeout(10_000)
        page.on("crash", lambda _: setattr(self, "crashed", True))  # the test that saw it is tried again, in a new one
        page.on("console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("requestfailed", lambda request: self.errors.append(f"failed: {request.url}"))
        page.on("response", lambda reply: reply.status >= 400 and self.errors.append(f"{reply.status}: {reply.url}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, address: str) -> None:
        """Open an address as a new page would: what the last one left behind is not seen."""
        if not self.page.url.startswith("about:"):
            self.page.evaluate("sessionStorage.clear(); localStorage.clear()")
        self.page.goto("about:blank")
        self.errors.clear()
        self.requests.clear()
        self.page.goto(address, wait_until="load")
        self.page.evaluate("document.fonts.ready.then(() => null)")


@pytest.fixture(scope="session")
def open_page(browser) -> Iterator:
    """A function that opens an address and returns the tab it is in, with `errors` and `requests` it filled."""
    tabs = {}

    def open_page(address: str, scheme: str, width: str) -> Tab:
        key = (scheme, width, address.partition(":")[0])
        if key not in tabs or tabs[key].crashed:
            tabs[key] = Tab(browser, scheme, width)
        tabs[key].open(address)
        return tabs[key]

    yield open_page
    for tab in tabs.values():
        tab.context.close()


@pytest.fixture(scope="session")
def visit(open_page, origin: str):
    """A function that visits a page of the site in a mode and returns what it saw: faults.py says what is wrong."""

    def visit(page_name: str, scheme: str, width: str) -> dict:
        tab = open_page(f"{origin}/{page_name}", scheme, width)
        page = tab.page
        seen = {"asked_for": list(tab.requests), "as_opened": page.evaluate(AS_OPENED)}
        page.mouse.move(1, 1)  # a live model in the first screen loads
        page.evaluate(UNCOVER)
        page.evaluate(OPEN_FOLDS)
        on_a_phone = width == "phone"
        seen |= page.evaluate(MEASURE)
        seen["off_screen"] = page.evaluate(OFF_SCREEN) if page_name in LESSONS else {}
        seen["wide_code"] = page.evaluate(WIDE_CODE) if on_a_phone else 0
        seen["wrapped"] = page.evaluate(WRAPPED) if on_a_phone else []
        seen["requests"] = list(tab.requests)  # axe itself may ask for more
        errors = list(tab.errors)
        seen["violations"] = find_violations(
            page,
            target_size=on_a_phone and page_name in LESSONS,
            contrast=not is_one_of_many(page_name),
            # The elements are those of the visit by phone, and what is around them is that of the pages in all modes.
            contrast_alone=not on_a_phone and modes_of(page_name) is TWO_MODES,
        )
        tab.errors.clear()
        seen["diagram_faults"] = find_diagram_faults(page) if on_a_phone else []
        return seen | {"errors": errors + tab.errors}

    return visit
