"""Next leads from lesson to lesson; further pages lie beside the path. Every page follows what others are called."""

import sys
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from small_book import build, make_book
from visits import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.everywhere import with_other_neighbours  # noqa: E402

TOC = """\
format: jb-book
root: page
parts:
- caption: First part
  chapters:
  - file: chapters/first
    sections:
    - file: chapters/further
    - file: chapters/further_still
- caption: Second part
  chapters:
  - file: chapters/second
- caption: Reference
  chapters:
  - file: list
    sections:
    - file: entry
"""
NEIGHBOURS = {
    "page": (None, "chapters/first"),
    "chapters/first": ("page", "chapters/second"),
    "chapters/further": ("chapters/first", "chapters/second"),
    "chapters/further_still": ("chapters/first", "chapters/second"),
    "chapters/second": ("chapters/first", "list"),
    "list": ("chapters/second", "entry"),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = make_book(tmp_path_factory.mktemp("path"))
    (book / "_toc.yml").write_text(TOC)
    (book / "chapters").mkdir()
    for name in [*NEIGHBOURS, "entry"]:
        if name != "page":
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# About `<{name}>`")])
            nbformat.write(notebook, book / f"{name}.ipynb")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_next_and_previous(book, name):
    built = book / "_build" / "html" / f"{name}.html"
    page = BeautifulSoup(built.read_text(encoding="utf-8"), "html.parser")
    links = [
        page.select_one(f".prev-next-area a.{side}-{kind}") for side, kind in (("left", "prev"), ("right", "next"))
    ]
    found = [link and (built.parent / link["href"]).resolve() for link in links]
    root = (book / "_build" / "html").resolve()
    expected = [neighbour and root / f"{neighbour}.html" for neighbour in NEIGHBOURS[name]]
    assert found == expected
    if NEIGHBOURS[name][1]:
        assert links[1].select_one(".prev-next-title").get_text() == f"About <{NEIGHBOURS[name][1]}>"


@pytest.mark.parametrize("name", [*NEIGHBOURS, "entry"])
def test_further_pages_say_that_they_are_optional(book, name):
    """Above their titles; no lesson does, and no page that is none of the course's chapters."""
    page = BeautifulSoup((book / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    found = [(word.get_text(), word.find_next_sibling().name) for word in page.select(".course-optional")]
    assert found == ([("Optional", "h1")] if "further" in name else [])


def test_a_page_follows_another_ones_title(book):
    """Its own text is as it was."""
    other = book / "list.ipynb"
    other.write_text(other.read_text().replace("About", "All of"))
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    page = BeautifulSoup((book / "_build" / "html" / "chapters" / "second.html").read_text(), "html.parser")
    assert page.select_one(".right-next .prev-next-title").get_text() == "All of <list>"
    assert "All of <list>" in page.select_one(".bd-sidebar").get_text()


def test_all_pages_are_written_again_for_titles_contents_and_files(tmp_path):
    """And for nothing else."""
    style, contents = tmp_path / "course.css", {"parts": ["First"]}
    style.write_text("a {}")
    pages = {"page": nodes.title("", "A page"), "other": nodes.title("", "Another")}
    env = SimpleNamespace(found_docs=set(pages), titles=pages, collect_relations=lambda: pages)
    site_map = SimpleNamespace(as_json=contents.copy)
    app = SimpleNamespace(confdir=tmp_path, config=SimpleNamespace(html_static_path=["."], external_site_map=site_map))
    changes = [
        lambda: None,
        lambda: pages.update(other=nodes.title("", "Another title")),
        lambda: contents.update(parts=["Second"]),
        lambda: style.write_text("b {}"),
    ]
    for change in changes:
        change()
        assert with_other_neighbours(app, env) == set(pages)
        (tmp_path / "favicon.svg").write_text("No page names its checksum.")
        assert not with_other_neighbours(app, env)
