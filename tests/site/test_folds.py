"""Folded cells, on a book of one page in a real browser."""

import nbformat
import pytest
from bs4 import BeautifulSoup
from pdf_text import pdf_text
from serving import BOOK, serving
from small_book import build, make_book, write_cells
from visits import run_axe

FOLDED = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}
CODE = "details.fold .cell_input"
BUTTON = ".show-all-code"
SUMMARY = "details.fold summary"


def folded(source):
    return nbformat.v4.new_code_cell(source, metadata=FOLDED)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A built page with two folded cells and an open one, and one without folds."""
    book = make_book(tmp_path_factory.mktemp("folds"))
    write_cells(
        book,
        nbformat.v4.new_markdown_cell("# A page"),
        folded("# @title Draw <one> layer & two heads\n# How it is drawn.\nprint('drawn')"),
        nbformat.v4.new_code_cell("print('open')"),
        folded("# @title Read the records\nrecords = 1"),
    )
    (book / "other.md").write_text("# Another page\n")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n- file: other\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"


@pytest.fixture(scope="module")
def address(site):
    with serving(site, BOOK) as origin:
        yield f"{origin}/page.html"


@pytest.fixture
def page(browser, address):
    """The page in a browser, with `errors` it filled."""
    page = browser.new_page()
    errors = []
    page.on("console", lambda message: message.type in ("error", "warning") and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    page.close()
    assert errors == []


def shown(page):
    """Which folds show their code."""
    return [code.is_visible() for code in page.locator(CODE).all()]


def test_a_fold_says_its_title_in_place_of_its_first_line(site):
    html = BeautifulSoup((site / "page.html").read_text(), "html.parser")
    folds = html.select("details.fold")
    assert [fold.summary.get_text() for fold in folds] == [
        "Code: Draw <one> layer & two heads",
        "Code: Read the records",
    ]
    assert [fold.pre.get_text() for fold in folds] == ["# How it is drawn.\nprint('drawn')\n", "records = 1\n"]
    assert [fold.summary.get("aria-label") for fold in folds] == [None, None]
    assert "drawn" in folds[0].find_next_sibling(class_="cell_output").get_text()


def test_only_a_page_with_folds_has_their_script(site):
    pages = [BeautifulSoup((site / f"{name}.html").read_text(), "html.parser") for name in ("page", "other")]
    assert [len(page.select("script[src*='folds.js']")) for page in pages] == [1, 0]


def test_folds_are_closed_and_their_outputs_shown(page):
    assert shown(page) == [False, False]
    assert page.get_by_text("drawn", exact=True).is_visible()


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_fold_opens_with_the_keyboard(page, key):
    page.locator(SUMMARY).first.focus()
    page.keyboard.press(key)
    assert shown(page) == [True, False]
    page.keyboard.press(key)
    assert shown(page) == [False, False]


def test_one_button_opens_and_closes_all_and_tells_its_state(page):
    button = page.get_by_role("button", name="Show all code")
    button.focus()
    assert button.get_attribute("aria-pressed") == "false"
    page.keyboard.press("Enter")
    page.locator(f"{BUTTON}[aria-pressed=true]").wait_for()
    assert shown(page) == [True, True]
    page.keyboard.press(" ")
    page.locator(f"{BUTTON}[aria-pressed=false]").wait_for()
    assert shown(page) == [False, False]


def test_the_button_follows_folds_that_are_opened_one_by_one(page):
    page.locator(SUMMARY).first.click()
    page.locator(BUTTON).click()  # one is closed, so this opens
    page.locator(f"{BUTTON}[aria-pressed=true]").wait_for()
    assert shown(page) == [True, True]
    page.locator(SUMMARY).last.click()
    page.locator(f"{BUTTON}[aria-pressed=false]").wait_for()


def test_folds_are_open_in_print_and_as_they_were_after_it(page):
    page.locator(SUMMARY).first.click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown(page) == [True, True]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown(page) == [True, False]


def test_the_code_of_folds_is_printed(page):
    """On paper itself: what fades in would not be there yet."""
    text = pdf_text(page.pdf())
    assert "print('open')" in text and "# How it is drawn." in text and "records = 1" in text


@pytest.fixture
def without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def test_without_scripts_folds_work_and_no_button_is_there(without_scripts):
    page = without_scripts
    assert page.locator(BUTTON).count() == 0
    page.locator(SUMMARY).first.click()
    assert shown(page) == [True, False]


def test_without_scripts_folds_are_open_in_print(without_scripts):
    height = {}
    for media in ("screen", "print"):
        without_scripts.emulate_media(media=media)
        height[media] = [code.bounding_box() and code.is_visible() for code in without_scripts.locator(CODE).all()]
    assert height == {"screen": [False, False], "print": [True, True]}


@pytest.mark.parametrize("open_all", [False, True], ids=["closed", "open"])
def test_accessible(page, scheme, open_all):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if open_all:
        page.locator(BUTTON).click()
        page.locator(f"{BUTTON}[aria-pressed=true]").wait_for()
    assert run_axe(page) == []
