"""The built site in Firefox and WebKit: a page is visited by one of them or by each, and what is wrong is told."""

import sys
import warnings
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from choosing import weekly
from selenium.common.exceptions import WebDriverException

sys.path.insert(0, str(Path(__file__).parents[1] / "site"))

from built_site import SITE, page_names  # noqa: E402
from engines import ENGINES, MissingEngine  # noqa: E402
from recording import recording  # noqa: E402
from visit import find_faults, look_at  # noqa: E402
from visits import one_of_each_kind, with_everything  # noqa: E402


def engine_pages() -> list[str]:
    """Every page but those of the reference, on which nothing moves."""
    return [name for name in page_names() if not name.startswith(("api/", "genindex", "search"))]


def visits() -> list:
    """Each engine with its pages: on each change a few with all there is.

    In the week one of each kind; of the others half, the rest being the other's.
    """
    kinds = [(engine, name) for engine in ENGINES for name in one_of_each_kind() if name in engine_pages()]
    others = [name for name in engine_pages() if name not in one_of_each_kind()]
    weekly_too = [*kinds, *((engine, name) for engine, name in zip(cycle(ENGINES), others, strict=False))]
    now = [(engine, name) for engine in ENGINES for name in with_everything() if name in engine_pages()]
    return now + [weekly(visit) for visit in weekly_too if visit not in now]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for a page runs on the pages of each engine, and another one in each."""
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
    """A function that visits a page, and returns what is wrong with it.

    WebKitGTK crashes now and then, and not on the same page: one is at fault on which it happens twice.
    """

    def visit_once(page_name: str) -> dict:
        engine.open(f"{origin}/{page_name}")
        return look_at(engine) | find_faults(engine)

    def visit(page_name: str) -> dict:
        try:
            return visit_once(page_name)
        except WebDriverException:
            if not engine.crashed():
                raise
        warnings.warn(f"the browser crashed on {page_name}, which is visited again", stacklevel=1)
        return visit_once(page_name)

    return visit
