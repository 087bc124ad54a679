"""Exercises turned round: each mistake keeps its name, and the published solution does not pass."""

import pytest
import torch

from attention_course.classroom.turns import TURNS
from attention_course.classroom.variants import PUBLISHED, variants, varied
from attention_course.exercises import CHAPTERS, chapter_exercises, check, judge

EXERCISES = [exercise for chapter in CHAPTERS for exercise in chapter_exercises(chapter).values()]
by_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def turned(chapter):
    """Each exercise of a chapter with each of its variants."""
    for exercise in chapter_exercises(chapter).values():
        for name in variants(exercise):
            yield exercise, name, varied(exercise, name)


@by_chapter
def test_the_wrapped_reference_passes_and_the_published_solution_is_told_what_is_different(chapter):
    for exercise, name, variant in turned(chapter):
        assert judge(variant, variant.reference).passed, (exercise.id, name)
        verdict = judge(variant, exercise.reference)
        assert (verdict.status, verdict.misconception) == ("wrong", PUBLISHED), (exercise.id, name)
        assert variants(exercise)[name].sentence in verdict.message


@by_chapter
def test_each_mistake_turned_round_is_told_in_its_own_sentence(chapter):
    """One variant of each exercise, another for each: all of them take a minute and a half."""
    for number, exercise in enumerate(chapter_exercises(chapter).values()):
        names = list(variants(exercise))
        if names:
            variant = varied(exercise, names[(number + len(chapter)) % len(names)])
            for mistake, original in zip(variant.misconceptions, exercise.misconceptions, strict=False):
                verdict = judge(variant, mistake.function)
                assert (verdict.misconception, verdict.message) == (original.name, original.message), exercise.id


@by_chapter
def test_code_that_was_handed_out_is_never_right(chapter):
    for exercise, name, variant in turned(chapter):
        if exercise.given:
            assert judge(variant, variant.given).status == "not attempted", (exercise.id, name)
            assert judge(variant, exercise.given).status == "not attempted", (exercise.id, name)


def test_given_code_that_was_turned_round_and_not_mended_is_not_attempted():
    exercise = chapter_exercises("multi_head")["multi_head.attention"]
    variant = varied(exercise, "opposite sign")
    assert judge(variant, lambda *arguments: -exercise.given(*arguments)).status == "not attempted"


def test_at_least_eighty_exercises_have_three_variants():
    sentences = [[variant.sentence for variant in variants(exercise).values()] for exercise in EXERCISES]
    assert sum(len(told) >= 3 for told in sentences) >= 80
    assert [told for told in sentences if len(set(told)) < len(told)] == []


@by_chapter
def test_an_answer_to_one_variant_does_not_pass_as_the_next(chapter):
    for exercise in chapter_exercises(chapter).values():
        ways = [varied(exercise, name) for name in variants(exercise)]
        for one, other in zip(ways, ways[1:], strict=False):
            assert not judge(other, one.reference).passed, exercise.id


def test_gradients_are_compared_through_a_variant():
    exercise = chapter_exercises("multi_head")["multi_head.attention"]
    variant = varied(exercise, "opposite sign")
    detached = judge(variant, lambda *arguments: -exercise.reference(*arguments).detach())
    assert (detached.status, detached.misconception) == ("wrong", "gradient")


def test_a_report_names_the_arguments_in_the_order_in_which_they_come():
    exercise = chapter_exercises("masking")["masking.window"]
    variant = varied(exercise, "arguments from the back")
    message = judge(variant, lambda n_sinks, window, n_tokens: torch.ones(n_tokens, n_tokens)).message
    assert message.index("n_sinks =") < message.index("window =") < message.index("n_tokens =")


def test_check_takes_a_variant_and_names_those_it_knows():
    def tenfold(*arguments):
        return 10 * chapter_exercises("block_cost")["block_cost.operations"].reference(*arguments)

    assert check("block_cost.operations", tenfold, variant="tenfold").passed
    assert not check("block_cost.operations", tenfold).passed
    with pytest.raises(ValueError, match=r"variant of block_cost.operations must be None or one of .*'tenfold'.*'odd'"):
        check("block_cost.operations", tenfold, variant="odd")


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.name)
def test_each_turn_is_used_by_an_exercise(turn):
    assert any(turn.name in variants(exercise) for exercise in EXERCISES)
