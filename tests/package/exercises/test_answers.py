"""Wrong answers that no misconception foresees must not pass; right ones, however written, must.

A wrong one stands here where only some inputs tell it from what is right, or by little: had an exercise other inputs,
it might pass. What no inputs could hide, such as a shape or a type, is `test_checking.py`'s.
"""

from importlib import import_module

import pytest

from attention_course import check
from attention_course.exercises import CHAPTERS


def answers(kind):
    """The answers beside this file, as `(exercise, function)`."""
    return [
        pytest.param(exercise, function, id=f"{exercise}: {name}")
        for chapter in CHAPTERS
        for exercise, functions in getattr(import_module(f"answers.{chapter}"), kind, {}).items()
        for name, function in functions.items()
    ]


@pytest.mark.parametrize(("exercise", "answer"), answers("WRONG"))
def test_a_wrong_answer_does_not_pass(exercise, answer):
    status = check(exercise, answer).status
    assert status == "wrong", "either it is right, or no input tells it from what is right"


@pytest.mark.parametrize(("exercise", "answer"), answers("RIGHT"))
def test_a_right_answer_passes(exercise, answer):
    verdict = check(exercise, answer)
    assert verdict.passed, verdict
