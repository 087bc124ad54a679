"""The engines as fixtures, for tests/engines and tests/weekly/engines."""

from collections.abc import Iterator

import pytest
from engines import ENGINES, MissingEngine


def for_each_engine(metafunc: pytest.Metafunc) -> None:
    """Have a test that asks for an engine run in each."""
    if "engine_name" in metafunc.fixturenames:
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
