"""Lessons keep to their limits."""

import json
import re
from pathlib import Path

import pytest
from limits import (
    MOST_CLAIMS,
    MOST_WORDS,
    STOP,
    all_words,
    code_lines,
    exercise_minutes,
    limits_of,
    long_cells,
    long_lines,
    markdown,
    open_claims,
    reading_minutes,
    stated_minutes,
    words,
)


@pytest.fixture
def most(lesson):
    return limits_of(Path(lesson).stem)


def test_prose_is_short(lesson, notebook, most):
    assert words(notebook) <= most.words


def test_all_pages_together_are_short():
    root = Path(__file__).parents[2]
    notebooks = [root / "intro.ipynb", *(root / "chapters").glob("*.ipynb")]
    assert sum(all_words(json.loads(path.read_text(encoding="utf-8"))) for path in notebooks) <= MOST_WORDS


def test_open_code_is_short(lesson, notebook, most):
    assert code_lines(notebook) <= most.code_lines


def test_open_cells_are_short(lesson, notebook):
    assert long_cells(notebook) == []


def test_open_lines_are_narrow(lesson, notebook):
    assert long_lines(notebook) == []


def test_a_lesson_is_one_sitting(lesson, notebook, most):
    assert reading_minutes(notebook) <= most.minutes


def test_a_page_says_how_long_it_takes(lesson_or_further, notebook):
    stated = stated_minutes(notebook)
    assert stated, "write: **Reading about 20 minutes, exercises about 15.**"
    reading, exercises = stated
    assert abs(reading - reading_minutes(notebook)) <= 5
    assert abs(exercises - exercise_minutes(notebook)) <= 5, (
        "each exercise's heading is read as `### 1. Title (10 min, difficulty 2 of 3)`"
    )
    assert reading % 5 == exercises % 5 == 0


def test_a_long_lesson_says_where_an_evening_may_end(lesson, notebook):
    """Before the mistake that it makes, where it makes one."""
    reading, _ = stated_minutes(notebook)
    said = [text for text in re.split(r"(?m)^(?=## )", markdown(notebook)) if STOP in text]
    assert len(said) == (reading >= 40)
    assert all(text.rstrip().endswith(STOP) for text in said)


def test_few_claims_stand_open(lesson, notebook):
    assert open_claims(notebook) <= MOST_CLAIMS
