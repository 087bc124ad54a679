"""The instructors' pages that are made from the lessons: their first pictures, and what builds on what."""

import shutil
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup
from small_book import build, make_book
from visits import ROOT, run_axe

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.objectives import direct_needs, lanes_of, read_lesson  # noqa: E402

TOC = """\
format: jb-book
root: page
parts:
- caption: First part
  chapters:
  - file: chapters/first
    sections:
    - file: chapters/further
  - file: chapters/second
- caption: Last part
  chapters:
  - file: chapters/plain
  - file: chapters/last
- caption: Look it up
  chapters:
  - file: chapters/looked_up
- caption: For instructors
  chapters:
  - file: instructors/pictures
  - file: instructors/objectives
"""
NEEDS = {
    "first": "Python",
    "further": "[first](first.ipynb)",
    "second": "[first](first.ipynb), and for one section [further](further.ipynb)",
    "plain": "[second](second.ipynb)",
    "last": "[first](first.ipynb) and [second](second.ipynb)",
}
SHOW = """from IPython.display import HTML
HTML('''{}''')"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="course-diagram" role="img" viewBox="0 0 9 9">'
    "<title>{} &amp; more</title></svg>"
)


def write(path, title, text, *pictures):
    sources = [SHOW.format(picture) for picture in pictures]
    cells = [nbformat.v4.new_markdown_cell(f"# {title}\n\n{text}"), *map(nbformat.v4.new_code_cell, sources)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = make_book(tmp_path_factory.mktemp("instructors"))
    (book / "_toc.yml").write_text(TOC)
    (book / "chapters").mkdir()
    (book / "instructors").mkdir()
    for name in ("pictures", "objectives"):
        shutil.copy(ROOT / "instructors" / f"{name}.md", book / "instructors")
    pictures = {
        "first": [f'<div class="course-explorer">{SVG.format("Not this")}</div>', SVG.format("One"), SVG.format("Not")],
        "further": [SVG.format("Further")],
        "second": [SVG.format("Two")],
        "plain": ["<b>no picture</b>"],
        "last": [SVG.format("Three")],
    }
    for name, needed in NEEDS.items():
        line = f"**Reading about 5 minutes, exercises about 5.** You need {needed}. Afterwards you can say {name}."
        write(book / "chapters" / f"{name}.ipynb", f"The {name}", line, *pictures[name])
    write(book / "chapters" / "looked_up.ipynb", "Looked up", "It says no time.")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book


def html(book, name):
    path = book / "_build" / "html" / "instructors" / f"{name}.html"
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_each_lesson_has_its_first_picture_once_and_in_order(book):
    """A picture in an explorer does not count, nor a further page; a lesson without a picture is left out."""
    shown = html(book, "pictures").select(".course-projector")
    assert [one.svg.title.get_text() for one in shown] == ["One & more", "Two & more", "Three & more"]
    assert len(html(book, "pictures").select("svg.course-diagram")) == 3
    sections = [one.find_parent("section") for one in shown]
    assert [section.h2.find(string=True) for section in sections] == ["The first", "The second", "The last"]
    said = [section.p.get_text() for section in sections]
    assert said[0] == "One & more. From The first."
    assert [section.p.a["href"] for section in sections] == [
        f"../chapters/{name}.html" for name in ("first", "second", "last")
    ]


def test_a_picture_can_be_shown_alone_left_and_followed_by_the_next(book, browser):
    window = {"width": 800, "height": 600}
    page = browser.new_page(viewport=window)
    page.goto((book / "_build" / "html" / "instructors" / "pictures.html").as_uri())

    def filling():
        boxes = {one: page.locator(f"#picture-{one}").bounding_box() for one in ("first", "second", "last")}
        return [one for one, box in boxes.items() if box == {"x": 0, "y": 0} | window]

    assert filling() == []
    links = page.locator(".course-projector a:visible")
    assert links.all_inner_texts() == ["Show it alone"] * 3
    links.nth(1).click()
    assert filling() == ["second"]
    page.locator("#picture-second a:visible", has_text="Next").click()
    assert filling() == ["last"]
    assert page.locator("#picture-last a:visible").all_inner_texts() == ["Close"]
    assert not run_axe(page)
    page.locator("#picture-last a:visible").click()
    assert filling() == []
    page.close()


def test_what_lessons_need_and_teach_is_drawn_and_listed(book):
    page = html(book, "objectives")
    assert page.select_one("svg.course-diagram desc").get_text() == (
        "The second needs The first; The plain needs The second; The last needs The second."
    )
    parts = {section.h2.find(string=True): section for section in page.select("section > section")}
    assert list(parts) == ["First part", "Last part"]
    assert [item.get_text() for part in parts.values() for item in part.select("li")] == [
        "The first. Afterwards you can say first.",
        "The second needs The first. Afterwards you can say second.",
        "The plain needs The second. Afterwards you can say plain.",
        "The last needs The first, The second. Afterwards you can say last.",
    ]


def test_a_need_that_another_need_has_is_not_drawn():
    assert direct_needs({"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "c"], "e": ["a"]}) == {
        "a": [],
        "b": ["a"],
        "c": ["b"],
        "d": ["c"],
        "e": ["a"],
    }


def test_arrows_that_would_meet_have_lanes_of_their_own():
    """The shorter lies inside. An arrow to the next lesson needs no lane."""
    assert lanes_of({"a": [], "b": ["a"], "c": ["a"], "d": ["b"], "e": ["d"], "f": ["a"]}) == {"b": 0, "a": 1}


def test_arrows_one_below_the_other_share_a_lane():
    assert lanes_of({"a": [], "b": ["a"], "c": [], "d": ["a"], "e": ["d"], "f": [], "g": ["e"]}) == {"a": 0, "e": 0}


def test_a_lesson_that_does_not_say_is_named(book):
    class App:
        srcdir = book

    with pytest.raises(ValueError, match="chapters/looked_up must say"):
        read_lesson(App, "chapters/looked_up")
