import pytest
import torch

from attention_course import check
from attention_course.exercises import EXERCISES

MISCONCEPTIONS = [
    pytest.param(exercise, misconception, id=f"{exercise.id}: {misconception.name}")
    for exercise in EXERCISES.values()
    for misconception in exercise.misconceptions
]


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_the_reference_passes(exercise):
    assert check(exercise.id, exercise.reference).passed


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_an_untouched_stub_is_no_error(exercise):
    assert check(exercise.id, lambda *arguments: ...).status == "not attempted"


@pytest.mark.parametrize(("exercise", "misconception"), MISCONCEPTIONS)
def test_each_misconception_is_rejected_with_its_own_message(exercise, misconception):
    verdict = check(exercise.id, misconception.function)
    assert (verdict.status, verdict.misconception) == ("wrong", misconception.name)
    assert misconception.message in repr(verdict)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_an_unforeseen_mistake_is_shown_on_the_smallest_input(exercise):
    def shifted(*arguments):
        return exercise.reference(*arguments) + 0.25

    verdict = check(exercise.id, shifted)
    assert verdict.status == "wrong" and verdict.misconception is None
    assert "expected" in verdict.message and "got" in verdict.message


def test_a_crash_is_reported_not_raised():
    verdict = check("scaled_dot_product.softmax_jacobian", lambda scores: scores[1000])
    assert verdict.status == "wrong" and "IndexError" in verdict.message


def test_a_wrong_shape_shows_both_shapes():
    verdict = check("scaled_dot_product.softmax_jacobian", lambda scores: scores)
    assert "shape (2, 2)" in verdict.message and "shape (2,)" in verdict.message


def test_an_answer_that_writes_into_its_input_cannot_spoil_the_comparison():
    def in_place(weights, keep, p):
        return weights.mul_(keep).div_(1 - p)

    assert check("scaled_dot_product.dropout", in_place).passed


def test_answers_in_numpy_count():
    def answer(scores):
        weights = scores.softmax(0).numpy()
        return torch.diag(torch.from_numpy(weights)).numpy() - weights[:, None] * weights[None, :]

    assert check("scaled_dot_product.softmax_jacobian", answer).passed


def test_an_unknown_id_is_named():
    with pytest.raises(ValueError, match="exercise_id must be one of"):
        check("bottleneck.none", ...)
