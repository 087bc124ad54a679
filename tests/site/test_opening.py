"""The top of a page of the sample: one fold before the picture, and what the page ran with at its end."""

import pytest
from small_book import read_page

PAGE = "chapters/second"
VERSIONS = "PyTorch 0.9 on 4 CPU cores, seed 0"


@pytest.fixture
def article(sample):
    return read_page(sample, PAGE).article


def test_one_fold_stands_before_the_picture(article):
    """It has the picture's title, and each part under its own; the folds below stay as they are."""
    first, second, _ = article.select("details.fold")
    titles = [part.get_text() for part in first.select(".cell_input > p")]
    assert titles == ["Set up", "Import", "Draw <one> layer & two heads"]
    code = [f'print("{VERSIONS}")', "import math", '# How it is drawn.\nprint("drawn")']
    assert [part.get_text().strip() for part in first.select("pre")] == code
    assert not second.select(".cell_input > p")


def test_the_versions_stand_last(article):
    """They are not searched, or every page would be found for them: see test_search.py."""
    assert article.get_text().count(f"This page ran with {VERSIONS}.") == 1
    assert article.find_all(True, recursive=False)[-1].get_text() == f"This page ran with {VERSIONS}."
    assert VERSIONS not in " ".join(output.get_text() for output in article.select(".cell_output"))


def test_what_belongs_together_stays_on_a_line(article):
    """A mark and its formula; the minutes of an exercise and their unit, though the heading keeps its address."""
    together = article.select(".formula-and-mark")
    assert [formula.find_all(string=True)[-1] for formula in together] == [",", "."]
    assert all(formula.select(".math") for formula in together)
    heading = article.find("h3")
    assert heading.contents[0] == "1. Build it (5\N{NO-BREAK SPACE}min, difficulty 1 of 3)"
    assert heading.parent["id"] == "build-it-5-min-difficulty-1-of-3"


def test_a_browser_stops_reading_behind_the_first_picture(sample):
    """And nowhere else: at a script of the page, which waits for the style sheets above it."""
    body = read_page(sample, PAGE).body
    (pause,) = [script for script in body.select("script") if not script.has_attr("defer")]
    assert pause.find_previous_sibling().select_one(".cell_output").get_text().strip() == "drawn"
    assert body.select(".search-button") and body.select(".theme-switch-button")
