"""Exercises turned round: each mistake keeps its name, and the published solution does not pass."""

from itertools import pairwise

import pytest
import torch
from choosing import weekly

from attention_course.exercises import CHAPTERS, chapter_exercises, check, judge
from attention_course.exercises.judging.transforms import TURNS
from attention_course.exercises.judging.variants import (
    MISSED,
    PUBLISHED,
    judge_variant,
    turned_solution,
    variants,
    varied,
)

EXERCISES = [exercise for chapter in CHAPTERS for exercise in chapter_exercises(chapter).values()]
# On each change one exercise of a chapter in one of its variants, and every week all in all, which takes minutes.
by_chapter = pytest.mark.parametrize(
    ("chapter", "every"), [*((chapter, False) for chapter in CHAPTERS), *(weekly((name, True)) for name in CHAPTERS)]
)


def told(exercise, name, answer):
    return judge_variant(exercise, name, lambda asked: judge(asked, answer))


@pytest.fixture
def turned(chapter, every):
    """A function: exercises of the chapter, each with the name of a variant and as that."""

    def turned(start, exercises=None):
        exercises = list(chapter_exercises(chapter).values()) if exercises is None else exercises
        place = start + len(chapter)
        for exercise in exercises if every else exercises[place % max(len(exercises), 1) :][:1]:
            names = list(variants(exercise))
            for name in names if every else names[place % max(len(names), 1) :][:1]:
                yield exercise, name, varied(exercise, name)

    return turned


@by_chapter
def test_a_turned_solution_passes_and_the_published_one_is_told_what_is_different(turned):
    for exercise, name, variant in turned(0):
        verdict = told(exercise, name, exercise.reference)
        assert (verdict.status, verdict.misconception) == ("wrong", PUBLISHED), (exercise.id, name)
        assert variants(exercise)[name].sentence in verdict.message
        code = {"__name__": "rubric", "reference": exercise.reference}
        exec(f"import torch\n{turned_solution(exercise, name, 'reference')}", code)  # as the rubric has it
        for answer in (code["turned"], variant.reference):
            assert told(exercise, name, answer).passed, (exercise.id, name)


@by_chapter
def test_each_mistake_turned_round_is_told_in_its_own_sentence(turned):
    for exercise, name, variant in turned(1):
        for mistake, original in zip(variant.misconceptions, exercise.misconceptions, strict=True):
            verdict = judge(variant, mistake.function)
            assert (verdict.misconception, verdict.message) == (original.name, original.message), (exercise.id, name)


@by_chapter
def test_code_that_was_handed_out_is_never_right(chapter, turned):
    backwards = "arguments from the back"
    handed_out = [exercise for exercise in chapter_exercises(chapter).values() if exercise.given]
    for exercise, name, variant in turned(3, handed_out):
        shown = varied(exercise, backwards).given if backwards in name else exercise.given  # as its stub is
        for given in (variant.given, exercise.given, shown):
            assert told(exercise, name, given).status == "not attempted", (exercise.id, name)


def context_with(weights):
    return lambda scores, states, lengths: (weights(scores)[:, :, None] * states).sum(1)


CONTEXT = chapter_exercises("bottleneck")["bottleneck.context"]
IN_THE_STUBS_ORDER = [
    (CONTEXT, lambda scores, states, lengths: scores.size(1), None),
    (CONTEXT, lambda scores, states, lengths: states[:, scores.size(1) - 1] * 17, None),
    (CONTEXT, context_with(lambda scores: scores.softmax(1)), "no mask"),
    (CONTEXT, lambda scores, states, lengths: CONTEXT.reference(scores, states, lengths).detach(), "gradient"),
    (CONTEXT, CONTEXT.reference, PUBLISHED),
]


@pytest.mark.parametrize(("exercise", "answer", "name"), IN_THE_STUBS_ORDER)
def test_a_wrong_answer_in_the_old_order_is_not_taken_for_the_lessons_own(exercise, answer, name):
    """All of them end in the same exception when the arguments come from the back."""
    verdict = told(exercise, "arguments from the back", answer)
    assert (verdict.status, verdict.misconception) == ("wrong", name)
    assert "The arguments come in the opposite order: `(lengths, states, scores)`." in verdict.message
    sentences = {one.name: one.message for one in exercise.misconceptions}
    assert sentences.get(name, "") in verdict.message
    assert ("Nothing to compare came back." in verdict.message) == (name is None)


def test_an_answer_that_turns_the_arguments_alone_is_told_of_the_result():
    name = "arguments from the back, opposite sign"
    right = told(CONTEXT, name, lambda lengths, states, scores: CONTEXT.reference(scores, states, lengths))
    assert right.misconception == MISSED
    assert "Return the result with the opposite sign" in right.message and "order" not in right.message
    no_mask = context_with(lambda scores: scores.softmax(1))
    mistaken = told(CONTEXT, name, lambda lengths, states, scores: no_mask(scores, states, lengths))
    assert mistaken.misconception == "no mask"
    assert mistaken.message.startswith("You missed what is turned round here: Return the result with the opposite sign")


def test_a_half_answer_in_the_old_order_is_not_attempted_and_a_mistake_is_told_in_its_sentence():
    fused, name = chapter_exercises("multi_head")["multi_head.fused"], "arguments from the back, tenfold"
    assert told(fused, name, lambda fused, n_heads: (fused.chunk(3, -1)[0], ..., ...)).status == "not attempted"
    assert told(fused, name, lambda fused, n_heads: fused.chunk(3, -1)).misconception == "not split into heads"


def test_sentences_say_which_of_several_results_are_meant():
    fused = variants(chapter_exercises("multi_head")["multi_head.fused"])
    assert fused["tenfold"].sentence == "Return ten times each of the results."
    assert fused["results from the back, opposite sign"].sentence == (
        "Return the results in the opposite order, the last one first. "
        "Return each of the results with the opposite sign: -x in the place of x."
    )


def test_where_one_of_two_turns_is_missed_no_sentence_of_a_mistake_is_false():
    """`(weights, output)` is what is asked for there, and is not to be told as a mistake."""
    names = variants(chapter_exercises("scores")["scores.dropout"])
    assert "arguments from the back" in names and not any("results from the back" in name for name in names)


def test_given_code_that_was_turned_round_and_not_mended_is_not_attempted():
    exercise = chapter_exercises("multi_head")["multi_head.attention"]
    variant = varied(exercise, "opposite sign")
    assert judge(variant, lambda *arguments: -exercise.given(*arguments)).status == "not attempted"


@pytest.mark.weekly
def test_at_least_eighty_exercises_have_three_variants():
    sentences = [[variant.sentence for variant in variants(exercise).values()] for exercise in EXERCISES]
    assert sum(len(told) >= 3 for told in sentences) >= 80
    assert [told for told in sentences if len(set(told)) < len(told)] == []


@pytest.mark.weekly
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_an_answer_to_one_variant_does_not_pass_as_the_next(chapter):
    for exercise in chapter_exercises(chapter).values():
        ways = [varied(exercise, name) for name in variants(exercise)]
        for one, other in pairwise(ways):
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


def test_an_exercise_has_the_same_variants_in_a_notebook_that_computes_in_float64():
    exercise = chapter_exercises("length")["length.accuracy"]  # its inputs are drawn in two dtypes there
    torch.set_default_dtype(torch.float64)
    try:
        found = variants.__wrapped__(exercise)
    finally:
        torch.set_default_dtype(torch.float32)
    assert found == variants(exercise)


def test_check_takes_a_variant_and_names_those_it_knows():
    def tenfold(*arguments):
        return 10 * chapter_exercises("block_cost")["block_cost.operations"].reference(*arguments)

    assert check("block_cost.operations", tenfold, variant="tenfold").passed
    assert not check("block_cost.operations", tenfold).passed
    with pytest.raises(ValueError, match=r"variant of block_cost.operations must be None or one of .*'tenfold'.*'odd'"):
        check("block_cost.operations", tenfold, variant="odd")


@pytest.mark.weekly
@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.name)
def test_each_turn_is_used_by_an_exercise(turn):
    assert any(turn.name in variants(exercise) for exercise in EXERCISES)
