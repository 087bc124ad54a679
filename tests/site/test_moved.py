"""Pages that moved: old addresses lead on."""

import sys
from types import SimpleNamespace

import nbformat
import pytest
from docutils import nodes
from small_book import build, make_book
from visits import MOVED, ROOT

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.moved import validate  # noqa: E402

MOVES = """\
chapters/before: chapters/after
chapters/gone: page
chapters/gone#part: chapters/after#a-place
a_folder/that/is_gone: page
page#part: chapters/after#a-place
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Two pages, which have taken in the content of two others."""
    book = make_book(tmp_path_factory.mktemp("moved") / "book")
    (book / "chapters").mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A new home\n\n## A place")])
    nbformat.write(notebook, book / "chapters" / "after.ipynb")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n- file: chapters/after\n")
    return book


@pytest.fixture(scope="module")
def address(book):
    """A function that tells the address of a page of the built book."""
    (book / "_moved.yml").write_text(MOVES)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return lambda page: (book / "_build" / "html" / f"{page}.html").as_uri()


def test_an_old_address_leads_to_the_same_place_of_the_new_page(address, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address("chapters/before") + "#a-place")
        page.wait_for_url("**/after.html#a-place")
        assert page.title().startswith("A new home")


def test_an_old_address_leads_on_without_scripts(address, browser):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address("chapters/before"))
        page.wait_for_url("**/after.html")


def test_a_part_of_a_page_that_stands_leads_to_where_it_is_now_and_other_parts_do_not(address, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address('page')}#another-part")
        assert page.title().startswith("A page")
        page.evaluate("location.hash = 'part'")  # as a link of the page itself would
        page.wait_for_url("**/chapters/after.html#a-place")
        page.goto(f"{address('page')}#part")
        page.wait_for_url("**/chapters/after.html#a-place")


def test_a_page_that_is_gone_may_send_its_parts_elsewhere(address, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address('chapters/gone')}#part")
        page.wait_for_url("**/chapters/after.html#a-place")
        page.goto(f"{address('chapters/gone')}#another-part")
        page.wait_for_url("**/page.html#another-part")


def test_a_page_in_a_folder_that_is_gone_leads_on(address, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address("a_folder/that/is_gone"))
        page.wait_for_url("**/html/page.html")


def test_a_page_that_stands_follows_the_list(book, address, browser):
    """Its own text is as it was."""
    assert build(book).returncode == 0  # the second build reads what the first one ran
    (book / "_moved.yml").write_text("chapters/after#left: page\n")
    assert build(book).returncode == 0
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address('chapters/after')}#left")
        page.wait_for_url("**/html/page.html#")


def test_a_move_to_nowhere_fails_the_build(book, address):
    move = "chapters/before: chapters/nowhere"
    (book / "_moved.yml").write_text(f"{move}\n")
    result = build(book)
    assert result.returncode != 0
    assert f"got {move}" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chapters/before", "chapters/nowhere"),
        ("chapters/after", "page"),
        ("page#part", "chapters/after#nowhere"),
        ("chapters/after#a-place", "page"),
        ("chapters/before#part", "page"),
    ],
)
def test_a_move_to_nowhere_or_from_a_place_that_stands_is_refused(old, new):
    pages = {"page": [], "chapters/after": [nodes.section(ids=["a-place"])]}
    doctrees = {page: nodes.section("", *sections) for page, sections in pages.items()}
    app = SimpleNamespace(env=SimpleNamespace(found_docs=pages.keys(), get_doctree=doctrees.get))
    validate(app, {"chapters/before": "chapters/after#a-place"})
    with pytest.raises(ValueError, match=f"got {old}: {new}"):
        validate(app, {old: new})


def test_a_part_of_a_page_that_is_gone_needs_a_move_of_the_page():
    """No page would be written that leads it on."""
    app = SimpleNamespace(env=SimpleNamespace(found_docs={"page"}))
    validate(app, {"gone#part": "page", "gone": "page"})
    with pytest.raises(ValueError, match="must also say where gone leads"):
        validate(app, {"gone#part": "page"})


def test_no_old_address_is_a_page_again():
    assert not [old for old in MOVED if (ROOT / f"{old}.ipynb").exists()]
