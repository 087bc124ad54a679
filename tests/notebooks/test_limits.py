"""Lessons keep to their limits, and what measures them counts right."""

import re

from limits import (
    MOST_CLAIMS,
    MOST_CODE_LINES,
    MOST_MINUTES,
    MOST_WORDS,
    code_lines,
    exercise_minutes,
    long_cells,
    long_lines,
    markdown,
    open_claims,
    reading_minutes,
    stated_minutes,
    words,
)
from small_notebooks import LESSON, code, folded, replaced, text, written

STOP = "*A good place to stop for today.*"


def test_prose_is_short(lesson, notebook):
    assert words(notebook) <= MOST_WORDS


def test_open_code_is_short(lesson, notebook):
    assert code_lines(notebook) <= MOST_CODE_LINES


def test_open_cells_are_short(lesson, notebook):
    assert long_cells(notebook) == []


def test_open_lines_are_narrow(lesson, notebook):
    assert long_lines(notebook) == []


def test_a_lesson_is_one_sitting(lesson, notebook):
    assert reading_minutes(notebook) <= MOST_MINUTES


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


def test_words_are_those_that_everybody_reads():
    #    A lesson. What is it? | Reading ... count. Build it | Predict. Is 1 + 1 two? Yes. | By hand. Say it. | closing
    assert words(LESSON) == 5 + 14 + 2 + 5 + 4 + (5 + 3 + 1 + 2)
    assert words(written(text("Two [linked words](https://example.org/a b) and `a.b(c)`."))) == 5
    assert words(written(text("| a | b |\n| --- | --- |\n| 1 | 2 |"))) == 4
    assert words(written(text("```python\nnot words\n```"), code("# not words"))) == 0


def test_code_is_counted_where_it_stands_open_before_and_after_the_exercises():
    assert code_lines(LESSON) == 2
    assert code_lines(written(code("a\n\n\nb"), folded("# @title Draw the rest\nc"), code(""))) == 4


def test_minutes_are_reading_and_code_and_those_of_exercises_without_the_open_task():
    assert exercise_minutes(LESSON) == 15
    assert reading_minutes(LESSON) == words(LESSON) / 150 + 2 / 4
    assert stated_minutes(LESSON) == (5, 15)
    assert stated_minutes(replaced("**Reading about 5 minutes, exercises about 15.**", "")) is None


def test_long_cells_are_found():
    assert long_cells(written(code("a\n" * 25), folded("# @title Draw it all\n" + "a\n" * 30))) == []
    assert long_cells(written(code("b\n" + "a\n" * 25))) == [("b", 26)]


def test_wide_lines_are_found():
    wide = "x" * 77
    assert long_lines(written(code("x" * 76), folded(f"# @title Draw it all\n{wide}"))) == []
    assert long_lines(written(code(f"a\n{wide}"))) == [wide]


def test_claims_count_in_open_cells():
    assert open_claims(LESSON) == 1
    assert open_claims(written(*[code("claim('a', True)\nclaim('b', True)")] * 5)) == 10
