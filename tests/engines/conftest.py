"""The built site in Firefox and WebKit: a page is visited once by one of them or by each, and what happened is kept."""

import functools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.common.exceptions import WebDriverException

sys.path.insert(0, str(Path(__file__).parents[1] / "site"))

from engines import ENGINES, MissingEngine  # noqa: E402
from recording import recording  # noqa: E402
from third import third_of  # noqa: E402
from visit import Visit, look_at  # noqa: E402
from visits import SITE, one_of_each_kind, page_names  # noqa: E402


def engine_pages() -> list[str]:
    """Every page but those of the reference, on which nothing moves."""
    return [name for name in page_names() if not name.startswith(("api/", "genindex", "search"))]


def visits() -> list[tuple[str, str]]:
    """Each engine with its pages: one of each kind, and of a third of the others half, the rest being the other's."""
    kinds = set(one_of_each_kind())
    others = third_of([name for name in engine_pages() if name not in kinds])
    return [
        (engine, name)
        for place, engine in enumerate(ENGINES)
        for name in engine_pages()
        if name in kinds or name in others[place :: len(ENGINES)]
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for an engine runs in each, and one that asks for a page too on the pages of each."""
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize(("engine_name", "page_name"), visits(), scope="session")
    elif "engine_name" in metafunc.fixturenames:
        metafunc.parametrize("engine_name", ENGINES, scope="session")


@pytest.fixture(scope="session")
def engine(engine_name: str) -> Iterator:
    """The engine, for all pages."""
    try:
        started = ENGINES[engine_name]()
    except MissingEngine as missing:
        pytest.fail(str(missing), pytrace=False)
    yield started
    started.close()


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    """The address of the site, whose pages keep their errors."""
    if not (SITE / "intro.html").exists():
        pytest.fail("there is no built site in _build/html: run `make site` first", pytrace=False)
    with recording(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def visit(engine, origin: str):
    """A function that visits a page and keeps what it saw.

    WebKitGTK crashes now and then, or its driver loses a click, and not on the same page: one is at fault on which it
    happens twice.
    """

    def visit_once(page_name: str) -> Visit:
        engine.open(f"{origin}/{page_name}")
        return look_at(engine)

    @functools.cache
    def visit(page_name: str) -> Visit:
        try:
            seen = visit_once(page_name)
            if not seen.dead():
                return seen
            failed = f"found {seen.dead()} dead"
        except WebDriverException:
            if not engine.crashed():
                raise
            failed = "crashed"
        warnings.warn(f"the browser {failed} on {page_name}, which is visited again", stacklevel=1)
        return visit_once(page_name)

    return visit
