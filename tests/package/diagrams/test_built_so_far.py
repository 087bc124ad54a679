import json
import re
from pathlib import Path

import pytest
import yaml
from reading import texts

from attention_course import diagrams
from attention_course.course.ladder import LESSONS
from attention_course.diagrams.built_so_far import BEFORE, BEHIND, BLOCK

ROOT = Path(__file__).parents[3]
PARTS = [*BEFORE, *BLOCK, *BEHIND]


def words(lesson):
    """What stands beside each part, in the order of the parts."""
    return [text for text in texts(diagrams.built_so_far(lesson)) if text in ("built", "new here", "to come")]


def test_what_was_new_is_built_in_the_next_lesson_and_nothing_is_lost():
    for before, lesson in zip(LESSONS, LESSONS[1:], strict=False):
        for old, now, (_, built_in) in zip(words(before), words(lesson), PARTS, strict=True):
            expected = "new here" if built_in == lesson else "built" if old != "to come" else "to come"
            assert now == expected, (lesson, built_in)


def test_the_first_lesson_has_built_nothing_before_and_the_last_completes_the_model():
    assert set(words(LESSONS[0])) == {"new here", "to come"}
    assert set(words(LESSONS[-1])) == {"built", "new here"}
    assert "the model is complete" in diagrams.built_so_far(LESSONS[-1]).alt


def test_the_lessons_stand_in_the_order_of_the_course():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    order = [Path(chapter["file"]).name for part in parts for chapter in part["chapters"] if "file" in chapter]
    assert [name for name in order if name in LESSONS] == list(LESSONS)
    assert {lesson for _, lesson in PARTS} == set(LESSONS)


def test_a_mask_stands_behind_the_scores_and_before_the_weights():
    assert [what.split(":")[0].split(",")[0] for what, _ in BLOCK[2:5]] == ["scores", "mask", "weights"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_has_its_own_picture_where_it_speaks_of_the_model(lesson):
    cells = json.loads((ROOT / "chapters" / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
    section, drawn = None, []
    for cell in map("".join, (cell["source"] for cell in cells)):
        section = (re.findall(r"^## (.*)", cell, re.MULTILINE) or [section])[-1]
        drawn += [(section, name) for name in re.findall(r'diagrams.built_so_far\("(\w+)"', cell)]
    assert drawn == [("What you can do now" if lesson == "scaled_dot_product" else "The model so far", lesson)]


def test_a_lesson_without_a_part_is_refused():
    with pytest.raises(ValueError, match="lesson must be one of .*'theory'"):
        diagrams.built_so_far("theory")
