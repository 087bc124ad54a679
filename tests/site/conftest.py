"""The built site in a real browser: every page is visited once in each mode, and what happened is kept."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

SCHEMES = ("light", "dark")
WIDTHS = {"desktop": 1280, "phone": 390}


def page_names() -> list[str]:
    """Every page of the built site, relative to its root; `no site` where it is not built.

    The front door, index.html, only leads to the first page.
    """
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return [name for name in names if not name.startswith("_") and name != "index.html"] or ["no site"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for a page, a scheme or a width runs for each."""
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", page_names())
    if "scheme" in metafunc.fixturenames:
        metafunc.parametrize("scheme", SCHEMES)
    if "width" in metafunc.fixturenames:
        metafunc.parametrize("width", WIDTHS)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    if not (SITE / "intro.html").exists():
        pytest.fail("there is no built site in _build/html: run `make site` first", pytrace=False)
    return SITE


def chromium_path() -> str:
    """The browser to test with: $CHROMIUM, else the first one on the path."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, CHROMIUM_NAMES)]
    path = next(filter(None, found), None)
    if path is None:
        pytest.fail("no Chromium found: install one (Debian: apt install chromium) or set CHROMIUM", pytrace=False)
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One Chromium for the whole run."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line on the terminal for each."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    """The address of the site on a local server."""
    handler = functools.partial(QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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


MEASURE = (Path(__file__).parent / "measure.js").read_text()


def describe_violations(results: dict) -> list[str]:
    """One line for every rule of axe that an element breaks."""
    return [
        f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for rule in results["violations"]
        for node in rule["nodes"]
    ]


@pytest.fixture(scope="session")
def open_page(browser) -> Iterator:
    """A function that opens an address and returns the page, with `errors` and `requests` it filled."""
    contexts = {}

    def open_page(address: str, scheme: str, width: str):
        key = (scheme, width)
        if key not in contexts:
            viewport = {"width": WIDTHS[width], "height": 900}
            contexts[key] = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce")
        page = contexts[key].new_page()
        page.set_default_timeout(10_000)
        errors, requests = [], []
        page.on("console", lambda message: message.type in ("error", "warning") and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(f"failed: {request.url}"))
        page.on("response", lambda reply: reply.status >= 400 and errors.append(f"{reply.status}: {reply.url}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address, wait_until="load")
        page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
        page.evaluate("document.fonts.ready.then(() => null)")
        return page, errors, requests

    yield open_page
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="session")
def visit(open_page, origin: str):
    """A function that visits a page of the site once in each mode and keeps what it saw."""

    @functools.cache
    def visit(page_name: str, scheme: str, width: str) -> Visit:
        page, errors, requests = open_page(f"{origin}/{page_name}", scheme, width)
        measured = page.evaluate(MEASURE)
        seen = {"errors": list(errors), "requests": list(requests)}  # axe itself may ask for more
        # Contrast takes axe most of its time and does not depend on the width.
        rules = {"color-contrast": {"enabled": width == "desktop"}}
        results = Axe().run(page, options={"preload": False, "resultTypes": ["violations"], "rules": rules}).response
        page.close()
        return Visit(**seen, violations=describe_violations(results), **measured)

    return visit
