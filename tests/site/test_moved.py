"""Pages that moved: old addresses lead on."""

import nbformat
import pytest
from small_book import build, make_book
from visits import MOVED, ROOT


@pytest.fixture
def book(tmp_path):
    """Two pages, one of which has taken in the content of a third."""
    book = make_book(tmp_path / "book")
    (book / "chapters").mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A new home\n\n## A place")])
    nbformat.write(notebook, book / "chapters" / "after.ipynb")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n- file: chapters/after\n")
    return book


def test_an_old_address_leads_to_the_same_place_of_the_new_page(book, browser):
    (book / "_moved.yml").write_text("chapters/before: chapters/after\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((book / "_build" / "html" / "chapters" / "before.html").as_uri() + "#a-place")
        page.wait_for_url("**/after.html#a-place")
        assert page.title().startswith("A new home")


def test_an_old_address_leads_on_without_scripts(book, browser):
    (book / "_moved.yml").write_text("chapters/before: chapters/after\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((book / "_build" / "html" / "chapters" / "before.html").as_uri())
        page.wait_for_url("**/after.html")


def test_a_part_of_a_page_that_stands_leads_to_where_it_is_now_and_other_parts_do_not(book, browser):
    (book / "_moved.yml").write_text("page#part: chapters/after#a-place\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    stands = (book / "_build" / "html" / "page.html").as_uri()
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{stands}#another-part")
        assert page.title().startswith("A page")
        page.evaluate("location.hash = 'part'")  # as a link of the page itself would
        page.wait_for_url("**/chapters/after.html#a-place")
        page.goto(f"{stands}#part")
        page.wait_for_url("**/chapters/after.html#a-place")


def test_a_page_that_is_gone_may_send_its_parts_elsewhere(book, browser):
    moves = ["chapters/before: page", "chapters/before#part: chapters/after#a-place"]
    (book / "_moved.yml").write_text("\n".join(moves))
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    gone = (book / "_build" / "html" / "chapters" / "before.html").as_uri()
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{gone}#part")
        page.wait_for_url("**/chapters/after.html#a-place")
        page.goto(f"{gone}#another-part")
        page.wait_for_url("**/page.html#another-part")


@pytest.mark.parametrize(
    "move",
    [
        "chapters/before: chapters/nowhere",
        "chapters/after: page",
        "page#part: chapters/after#nowhere",
        "chapters/after#a-place: page",
    ],
)
def test_a_move_to_nowhere_or_from_a_place_that_stands_fails(book, move):
    (book / "_moved.yml").write_text(f"{move}\n")
    result = build(book)
    assert result.returncode != 0
    assert f"got {move}" in result.stdout + result.stderr


def test_no_old_address_is_a_page_again():
    assert not [old for old in MOVED if (ROOT / f"{old}.ipynb").exists()]
