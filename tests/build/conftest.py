"""The tiny book, one for each file of tests."""

import pytest
from tiny_book import make_book


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return make_book(tmp_path_factory.mktemp("book"))
