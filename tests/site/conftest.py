"""The built site in a real browser: every page is visited once in each mode, and what happened is kept."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import BOOK, serving
from visits import MEASURE, SCHEMES, SITE, WIDTHS, Visit, find_violations, page_names


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


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    """The address of the site on a local server, as strict as the theme allows."""
    with serving(site, BOOK) as address:
        yield address


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
        violations = find_violations(page, scheme, width)
        page.close()
        return Visit(**seen, violations=violations, **measured)

    return visit
