"""Lessons have the form of a lesson, a fold is one everywhere, and neither answers nor the lesson are given away."""

import json
import re

from covers import told_before
from folds import is_folded, missing_marks, title
from form import (
    closing_headings,
    hidden_lessons,
    is_closed_well,
    judging,
    led_to,
    malformed_exercise_headings,
    missing_kinds,
    mistakes_at_the_top,
    open_guards,
)
from limits import markdown

PREDICTION = re.compile(
    r"^\*\*(?:Predict|Say why)\.\*\* (.*?)^<details>.*?</summary>\s*\*\*(.+?)\*\*", re.MULTILINE | re.DOTALL
)


def test_the_top_of_a_lesson(lesson, notebook):
    assert mistakes_at_the_top(notebook) == []


def test_a_lesson_closes_with_exercises_and_what_its_reader_can_do(lesson, notebook):
    assert is_closed_well(notebook), closing_headings(notebook)


def test_a_lesson_leads_to_the_next_one(lesson, notebook, next_lesson):
    assert next_lesson in led_to(notebook)


def test_exercises_say_their_number_minutes_and_difficulty(lesson_or_further, notebook):
    assert malformed_exercise_headings(notebook) == []


def test_a_lesson_has_every_kind_of_exercise(lesson, notebook):
    assert not missing_kinds(notebook), ", ".join(missing_kinds(notebook))


def places_of_right_options(text):
    """At which place among its options, counted from 0, the right one of each question is written."""
    for asked, answer in PREDICTION.findall(text):
        options = [line.removeprefix("- ").strip() for line in asked.splitlines() if line.startswith("- ")]
        yield options.index(answer)


def test_the_right_option_seldom_stands_first(root, notebook_names):
    """The site mixes them; in a notebook they stand as they are written."""
    texts = [markdown(json.loads((root / name).read_text(encoding="utf-8"))) for name in notebook_names]
    places = [place for text in texts for place in places_of_right_options(text)]
    assert len(places) > 50
    assert places.count(0) <= 0.45 * len(places)


def test_folded_cells_are_folded_everywhere(name, notebook):
    assert [(missing, title(cell)) for cell in notebook["cells"] for missing in missing_marks(cell)] == []


def test_folded_cells_say_what_they_do(name, notebook):
    titles = [title(cell) for cell in notebook["cells"] if is_folded(cell)]
    assert [words for words in titles if len(words.split()) < 3] == []


def test_no_fold_hides_the_lesson_itself(lesson_or_further, notebook, linked_before):
    """What an earlier page showed open may be folded, where the page links there."""
    assert hidden_lessons(notebook, linked_before) == []


def test_no_claim_is_told_before_its_question(name, notebook):
    """On the site it is covered until the prediction is made."""
    assert told_before(notebook) == []


def test_guards_are_folded(lesson_or_further, notebook):
    assert open_guards(notebook) == []


def test_asserts_are_equalities(name, notebook):
    """No assert stops a reader: what is trained, timed or measured is a claim."""
    assert judging(notebook) == []
