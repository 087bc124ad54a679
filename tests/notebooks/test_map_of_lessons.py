"""The list on the front page and in README, and the files of exercises, are as the table of contents says."""

import ast
import re
from pathlib import Path

import nbformat
import pytest
import yaml
from course_map import CELL, FRONT_PAGE, IN_README, README, read_look_up, read_page, read_parts, write_list
from lessons import WITH_EXERCISES

from attention_course.exercises import CHAPTERS

MAKE_MAP = "run `make map`: it writes the list anew"


@pytest.fixture
def in_the_course(root, monkeypatch):
    monkeypatch.chdir(root)


def test_the_list_is_as_the_pages_say(in_the_course):
    page, listed = nbformat.read(FRONT_PAGE, as_version=4), write_list(read_parts(), read_look_up())
    assert [cell.source for cell in page.cells if cell.id == CELL] == [f"## The parts\n\n{listed}"], MAKE_MAP
    assert IN_README.findall(README.read_text(encoding="utf-8")) == [listed], MAKE_MAP


def test_every_page_has_its_file_of_exercises():
    assert set(CHAPTERS) == set(WITH_EXERCISES)


@pytest.mark.parametrize("folder", [".", "distributed", "efficient", "interpreting"])
def test_each_mechanism_names_the_page_that_it_belongs_to(root, folder):
    no_mechanisms = {"__init__", "__main__", "inputs", "mechanism", "moved"}
    for file in (root / "attention_course" / folder).glob("*.py"):
        lesson = re.search(r"^Lesson: (.*)\.$", ast.get_docstring(ast.parse(file.read_text())), re.MULTILINE)
        assert bool(lesson) == (file.stem not in no_mechanisms), f"{file} must say `Lesson: ...` in its first lines"
        pages = re.findall(r"`(.*?)`", lesson[1]) if lesson else []
        assert all((root / page).exists() for page in pages)


def test_a_page_that_does_not_say_is_refused(tmp_path):
    with pytest.raises(ValueError, match="how long"):
        read_page(write_page(tmp_path / "page", "Title", "You need nothing."))


def test_the_list_of_a_small_course(tmp_path, monkeypatch):
    """Its first reading has a line a lesson; the other pages are folded, further ones in italics."""
    monkeypatch.chdir(tmp_path)
    Path("chapters").mkdir()
    minutes = {"a": 60, "more": 91, "language_model": 40, "last": 90}
    for name, time in minutes.items():
        write_page(Path("chapters", name), name.upper(), f"**Reading about {time} minutes, exercises about 0.**")
    first = [{"file": "chapters/a", "sections": [{"file": "chapters/more"}]}, {"file": "chapters/language_model"}]
    parts = [{"caption": "One", "chapters": first}, {"caption": "Two", "chapters": [{"file": "chapters/last"}]}]
    parts.append({"caption": "Look it up", "chapters": [{"file": "chapters/how"}]})
    parts.append({"caption": "Reference", "chapters": [{"file": "glossary"}]})
    write_page(Path("chapters/how"), "HOW", "No time.")
    Path("_toc.yml").write_text(yaml.safe_dump({"parts": parts}))
    head, rest = write_list(read_parts(), read_look_up()).split("\n1. ")
    assert "A first reading has 2 lessons" in head and "takes 2 evenings" in head
    assert rest == (
        "[A](chapters/a.ipynb), 60 minutes\n"
        "2. [LANGUAGE_MODEL](chapters/language_model.ipynb), 40 minutes\n"
        "\n<details><summary>All other pages (in italics: optional ones, each beside its lesson)</summary>\n\n"
        "- One: *[MORE](chapters/more.ipynb)*\n"
        "- Two: [LAST](chapters/last.ipynb)\n"
        "- Look it up: [HOW](chapters/how.ipynb)\n\n"
        "</details>"
    )


def write_page(path, title, line):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# {title}\n\n{line}")])
    nbformat.write(notebook, f"{path}.ipynb")
    return str(path)
