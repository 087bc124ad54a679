"""The top of a page on a book of one page: one fold before the picture, and what the page ran with at its end."""

import nbformat
import pytest
from bs4 import BeautifulSoup
from small_book import build, make_book, write_cells

FOLDED = {"tags": ["hide-input"]}
VERSIONS = "PyTorch 2.5.1 on 4 CPU cores, seed 0"


def folded(source):
    return nbformat.v4.new_code_cell(source, metadata=FOLDED)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page as a lesson is: the setup, the imports and the picture folded, and two more folds below."""
    book = make_book(tmp_path_factory.mktemp("opening"))
    write_cells(
        book,
        nbformat.v4.new_markdown_cell("# A page\n\n*What is it?*"),
        folded(f"# @title Set up\nprint({VERSIONS!r})"),
        folded("# @title Import\nimport math"),
        folded("# @title Draw it\nprint('a picture')"),
        folded("# @title Keep a number\nnumber = 1"),
        nbformat.v4.new_markdown_cell("Prose with $x$, and $y$.\n\n## Later"),
        nbformat.v4.new_markdown_cell("### 1. Build it (5 min, difficulty 1 of 3)"),
        folded("# @title Keep another\nanother = 2"),
        folded("# @title Say it\nprint(another)"),
    )
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"


@pytest.fixture
def article(page):
    return BeautifulSoup((page / "page.html").read_text(), "html.parser").article


def test_one_fold_stands_before_the_picture(article):
    """It has the picture's title, and each part under its own; the folds below stay as they are."""
    folds = article.select("details.fold")
    titles = ["Draw it", "Keep a number", "Keep another", "Say it"]
    assert [fold.summary.get_text() for fold in folds] == [f"Code: {title}" for title in titles]
    first = folds[0]
    assert [part.get_text() for part in first.select(".cell_input > p")] == ["Set up", "Import", "Draw it"]
    code = [f"print({VERSIONS!r})", "import math", "print('a picture')"]
    assert [part.get_text().strip() for part in first.select("pre")] == code
    assert first.find_next_sibling(class_="cell_output").get_text().strip() == "a picture"
    assert not folds[1].select(".cell_input > p")


def test_the_versions_stand_last(article):
    assert article.get_text().count(f"This page ran with {VERSIONS}.") == 1
    assert article.find_all(True, recursive=False)[-1].get_text() == f"This page ran with {VERSIONS}."
    assert VERSIONS not in " ".join(output.get_text() for output in article.select(".cell_output"))


def test_the_versions_are_not_searched(page):
    """Or every page would be found for them."""
    found = [file.name for file in page.rglob("*.js") if "CPU cores" in file.read_text()]
    assert found == []


def test_a_mark_stays_with_its_formula(article):
    together = article.select(".formula-and-mark")
    assert [formula.find_all(string=True)[-1] for formula in together] == [",", "."]
    assert all(formula.select(".math") for formula in together)


def test_the_minutes_of_an_exercise_stay_with_their_unit(article):
    """The heading keeps its address."""
    heading = article.find("h3")
    assert heading.contents[0] == "1. Build it (5\N{NO-BREAK SPACE}min, difficulty 1 of 3)"
    assert heading.parent["id"] == "build-it-5-min-difficulty-1-of-3"


def test_a_browser_stops_reading_behind_the_first_picture(page):
    """And nowhere else: at a script of the page, which waits for the style sheets above it."""
    body = BeautifulSoup((page / "page.html").read_text(), "html.parser").body
    (pause,) = [script for script in body.select("script") if not script.has_attr("defer")]
    assert pause.find_previous_sibling().select_one(".cell_output").get_text().strip() == "a picture"
    assert body.select(".search-button") and body.select(".theme-switch-button")
