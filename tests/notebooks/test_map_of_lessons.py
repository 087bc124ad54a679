"""The map on the front page says what the lessons say."""

import re

import nbformat
import pytest
from course_map import RECORD, read_lesson, read_parts

from attention_course import recorded


def test_the_map_is_as_the_lessons_say(root, monkeypatch):
    monkeypatch.chdir(root)
    assert recorded.load("lessons")["parts"] == read_parts(), f"run `make map`: it writes {RECORD} anew"


def test_every_lesson_is_on_the_map_and_in_the_list_below_it(root, chapter_names):
    lessons = [lesson for part in recorded.load("lessons")["parts"] for lesson in part["lessons"]]
    on_the_map = [(lesson["title"], f"chapters/{lesson['name']}.ipynb") for lesson in lessons]
    assert {name for _, name in on_the_map} == chapter_names
    cells = nbformat.read(root / "intro.ipynb", as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    listed = re.findall(r"(?m)^- \[([^\]]+)\]\((chapters/\w+\.ipynb)\) – ", text)
    assert listed == on_the_map


@pytest.mark.parametrize(
    ("line", "minutes", "needs"),
    [
        (
            "**Reading about 40 minutes, exercises about 20.** You need [X](x.ipynb). Afterwards [Y](y)",
            60,
            ["x"],
        ),
        ("**Time** 50 minutes, and 5 for the exercises. **You need** [X](x.ipynb). **You will be able to**", 55, ["x"]),
    ],
)
def test_what_a_lesson_says_is_read(tmp_path, line, minutes, needs):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Title\n\n{line}")])
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    lesson = read_lesson(str(tmp_path / "lesson"), False)
    assert lesson == {"name": "lesson", "title": "Title", "minutes": minutes, "needs": needs, "further": False}


def test_a_lesson_that_does_not_say_is_refused(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\nYou need nothing.")])
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    with pytest.raises(ValueError, match="how long"):
        read_lesson(str(tmp_path / "lesson"), False)
