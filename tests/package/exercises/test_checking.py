"""Verdicts: what passes, which mistake is named, and what the message shows."""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from choosing import weekly

from attention_course import check
from attention_course.exercises import CHAPTERS, MOVED, RETIRED, chapter_exercises, find_exercise
from attention_course.exercises.judging.checking import LENGTH, NOT_FIXED, SIZES, Exercise, draw, judge
from attention_course.exercises.judging.drawing import normal
from attention_course.exercises.judging.running import WRITTEN, run

EXERCISES = [exercise for chapter in CHAPTERS + RETIRED for exercise in chapter_exercises(chapter).values()]
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
JACOBIAN = "scale.softmax_jacobian"


def jacobian(scores):
    return torch.diag(scores.softmax(0)) - torch.outer(scores.softmax(0), scores.softmax(0))


def asking(reference):
    """An exercise without arguments."""
    return Exercise("test.value", reference, lambda size, generator: (), ())


@each_exercise
def test_the_reference_passes_on_as_many_inputs_as_the_instructors_page_says(exercise):
    verdict = check(exercise.id, exercise.reference)
    assert verdict.passed
    assert "12 random inputs" in verdict.message


@each_exercise
def test_every_argument_varies_with_the_size(exercise):
    """Or an answer could have its number, instead of taking it. Functions and models may stay what they are."""
    generator = torch.Generator().manual_seed(0)
    arguments = zip(*(exercise.inputs(size, generator) for size in SIZES), strict=True)
    seen = [{repr(one) for one in drawn} for drawn in arguments if not callable(drawn[0])]
    assert [one for one in seen if len(one) == 1] == []


def test_what_is_lent_to_an_answer_has_nothing_public():
    """What is public, an answer that is graded may read and change: a model's own right answer, for example."""
    lent = [(exercise.id, one) for exercise in EXERCISES for one in draw(exercise, 0)[-1] if callable(one)]
    public = {(name, key) for name, one in lent for key in vars(one) if not key.startswith("_")}
    assert public == set() and len(lent) >= 10


@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if exercise.given], ids=lambda exercise: exercise.id
)
def test_given_code_is_not_attempted_by_every_seed(exercise):
    for seed in range(4):
        verdict = judge(exercise, exercise.given, seed)
        assert (verdict.status, verdict.message) == ("not attempted", NOT_FIXED), seed


@each_exercise
@pytest.mark.parametrize("seed", [0, weekly(1)])
def test_each_misconception_is_named(exercise, seed):
    for misconception in exercise.misconceptions:
        verdict = judge(exercise, misconception.function, seed)
        assert (verdict.status, verdict.misconception) == ("wrong", misconception.name)
        assert misconception.message in repr(verdict)


@each_exercise
def test_an_unforeseen_mistake_is_shown_on_the_smallest_input(exercise):
    def shifted(*arguments):
        right = exercise.reference(*arguments)
        return [item + 0.25 for item in right] if isinstance(right, tuple) else right + 0.25

    verdict = check(exercise.id, shifted)
    assert verdict.status == "wrong" and verdict.misconception is None
    assert "expected" in verdict.message and "got" in verdict.message
    assert len(verdict.message) <= LENGTH


@pytest.mark.parametrize("answer", [..., lambda scores: ..., lambda scores: (scores, ...)])
def test_what_is_still_to_be_replaced_is_not_attempted(answer):
    assert check(JACOBIAN, answer).status == "not attempted"


def test_an_untouched_stub_is_told_what_to_do_where_nothing_runs_too():
    message = check(JACOBIAN, ...).message
    assert "in Colab or in Jupyter" in message and "again" not in message


def test_a_stub_that_raises_is_not_attempted():
    def answer(scores):
        raise NotImplementedError

    assert check(JACOBIAN, answer).status == "not attempted"


@pytest.mark.parametrize(
    ("given", "answer", "status"),
    [
        (lambda x: x + 1, lambda x: 1 + x, "not attempted"),
        (lambda x: x[99], lambda x: x[99], "not attempted"),
        (lambda x: x + 1, lambda x: x + 3, "wrong"),
        (lambda x: x[99], lambda x: x[98], "wrong"),
        (lambda x: x + 1, lambda x: x + 2, "passed"),
    ],
)
def test_given_code_is_attempted_once_it_behaves_otherwise(given, answer, status):
    exercise = Exercise("test.given", lambda x: x + 2, lambda size, generator: (torch.ones(size),), (), given)
    assert judge(exercise, answer).status == status


def test_given_code_that_overflows_is_not_mended_by_more_digits():
    given = chapter_exercises("flash")["flash.attend"].given
    verdict = check("flash.attend", lambda scores, values, tile: given(scores.double(), values.double(), tile))
    assert verdict.message == NOT_FIXED


def test_what_pytorch_has_not_implemented_is_an_attempt():
    verdict = check(JACOBIAN, torch.nn.Module())
    assert verdict.status == "wrong" and "NotImplementedError" in verdict.message


def test_a_value_instead_of_a_function_is_told_so():
    assert "the function itself" in check(JACOBIAN, torch.eye(2)).message
    assert judge(asking(lambda: 3), 3).passed
    assert judge(asking(lambda: 3), 4).status == "wrong"


@pytest.mark.parametrize(
    ("exercise", "answer", "told"),
    [
        ("block_cost.parameters", lambda d, h, f: 4 * d**2 + 2 * d * f + f + d + 4 * d, "the biases of the four proj"),
        ("approximations.crossover", lambda h, d, m: (6 * m * d + 2 * m) / (4 * d), "the state, reading the state"),
        ("approximations.crossover", lambda h, d, m: (4 * m * d + 2 * m) / (4 * d), "the state, reading the state"),
    ],
)
def test_a_count_that_several_mistakes_give_is_told_of_all_of_them(exercise, answer, told):
    assert told in check(exercise, answer).message


def test_a_crash_of_another_kind_is_not_the_misconception_that_crashes_too():
    def crashes(query, key, value):
        return query[99]

    verdict = check("scaled_dot_product.attention", crashes)
    assert verdict.misconception is None
    assert "index 99" in verdict.message


@pytest.mark.parametrize(
    ("expected", "got", "message"),
    [
        (torch.tensor([True]), torch.tensor([1.0]), "Expected a boolean tensor, got float32."),
        (torch.tensor([True]), torch.tensor([1]), "Expected a boolean tensor, got int64."),
        (torch.tensor([1]), torch.tensor([1.0]), "Expected an integer tensor, got float32."),
        (torch.tensor([1]), torch.tensor([True]), "Expected an integer tensor, got bool."),
        (torch.tensor([1.0]), torch.tensor([1]), "Expected a float tensor, got int64."),
        (torch.tensor([1.0]), torch.tensor([1.0 + 0.0j]), "Expected a float tensor, got complex64."),
        (2, 2 + 1j, "Expected an integer tensor, got complex64."),
        (2, 2.5, "Expected 2, got 2.5."),
        (100_000, 100_001, "Expected 100000, got 100001."),
        (torch.ones(2), torch.ones(2, 1), "Expected shape (2,), got (2, 1)."),
        (torch.ones(2), torch.tensor([1.0, 1.0005]), "Expected 1 at [1], got 1.0005."),
        (torch.ones(2), torch.tensor([1.0, torch.nan]), "Expected 1 at [1], got nan."),
        ((torch.ones(2), torch.ones(2)), torch.ones(3, 2), "Number of results: expected 2, got 1."),
        ((torch.ones(2), torch.ones(2)), (torch.ones(2), torch.zeros(2)), "Expected 1 at [0], got 0."),
        ((torch.ones(1), torch.ones(1)), (torch.ones(1), torch.ones(1, 1)), "Expected shape (1,), got (1, 1)."),
        (torch.tensor([1]), [], "Expected shape (1,), got (0,)."),
        (torch.ones(2), None, "Nothing to compare came back."),
        (torch.ones(2, 3), [torch.ones(3)], "Expected one result, got a tuple or list of 1."),
        (torch.ones(2), (torch.ones(2),), "Expected one result, got a tuple or list of 1."),
        (torch.tensor(1.0), (torch.ones(2),), "Expected one result, got a tuple or list of 1."),
        (1.0, (torch.ones(2), torch.ones(2)), "Expected one result, got a tuple or list of 2."),
        (torch.ones(2, 3), [torch.ones(3), torch.zeros(3)], "Expected 1 at [1, 0], got 0."),
        ((torch.ones(2, 3),) * 2, ([torch.ones(3)] * 2, (torch.zeros(3),) * 2), "Expected 1 at [0, 0], got 0."),
        ((torch.ones(2, 3),) * 2, ([torch.ones(3)] * 2,), "Number of results: expected 2, got 1."),
        ((torch.ones(2, 3),) * 2, ([torch.ones(3)],) * 2, "Expected one result, got a tuple or list of 1."),
        (16_777_217, 16_777_218.0, "Expected 16777217, got 16777218."),
    ],
)
def test_kind_shape_and_value_must_agree_and_the_difference_is_told(expected, got, message):
    verdict = judge(asking(lambda: expected), got)
    assert verdict.status == "wrong"
    assert verdict.message.startswith(message)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 3.0, 9.99, 1e6])
def test_what_is_shown_as_expected_and_as_got_is_never_the_same(scale):
    expected = scale * torch.tensor([0.25, 1.0])
    message = judge(asking(lambda: expected), expected + 1.01e-5 + 1.01e-4 * expected).message
    shown = [line.split(maxsplit=1)[1] for line in message.splitlines() if line.startswith(("  expected", "  got"))]
    assert len(shown) == 2 and shown[0] != shown[1]


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (2, 2.0),
        (2, torch.tensor(2)),
        (2.5, torch.tensor(2.5)),
        (torch.tensor(2), 2),
        (torch.tensor([1, 2]), [1, 2]),
        (torch.ones(2, 3), [torch.ones(3), torch.ones(3)]),  # row by row
        (16_777_217, 16_777_217.0),
        (torch.tensor([1, 2]), np.array([2, 1], dtype=np.int32)[::-1]),
        (torch.tensor([True]), [True]),
        (torch.tensor([], dtype=torch.long), []),
        (torch.tensor([1.0, torch.nan]), np.array([1.0, np.nan])),
        (torch.tensor([1.0]), torch.tensor([1.00001], requires_grad=True)),
        (torch.tensor(1.0), np.float64(1.0)),
        ((torch.ones(1), torch.zeros(1, 1)), [np.ones(1), torch.zeros(1, 1)]),
        ((torch.ones(2, 3), torch.zeros(1, 3)), ([torch.ones(3), torch.ones(3)], (torch.zeros(3),))),
        ((torch.ones(2, 3), torch.zeros(1, 3)), ([np.ones(3), [1.0, 1.0, 1.0]], [[0.0, 0.0, 0.0]])),
    ],
)
def test_the_same_numbers_pass_in_any_container(expected, got):
    assert judge(asking(lambda: expected), lambda: got).passed


@pytest.mark.parametrize("size", [30, 3000])
def test_a_large_result_is_cut_to_a_screen(size):
    verdict = check(JACOBIAN, lambda scores: torch.randn(size, size))
    assert verdict.status == "wrong" and len(verdict.message) <= LENGTH
    assert f"({size}, {size})" in verdict.message


def test_a_long_error_is_cut_to_a_screen():
    def answer(scores):
        raise ValueError("no " * 100_000)

    verdict = check(JACOBIAN, answer)
    assert "ValueError: no no" in verdict.message and len(verdict.message) <= LENGTH


def test_an_answer_that_writes_into_its_input_cannot_spoil_the_comparison():
    def in_place(weights, keep, p, value):
        before = weights.clone()
        return weights.mul_(keep).div_(1 - p) @ value, before

    assert check("scores.dropout", in_place).passed


def _through(other_name):
    """Writes under another name into what it was given."""

    def answer(weight, head, n_heads):
        width = len(weight) // n_heads
        kept = other_name(weight)
        kept[:, head * width : (head + 1) * width] = 0
        return kept

    return answer


@torch.no_grad()
def _without_gradients(weight, head, n_heads):
    width = len(weight) // n_heads
    weight[:, head * width : (head + 1) * width] = 0
    return weight


def _multiplied_in_place(weight, head, n_heads):
    weight *= torch.arange(len(weight)) // (len(weight) // n_heads) != head
    return weight


def _returned_as_it_was(weight, head, n_heads):
    """The copy is given back, and the layer's own is changed."""
    before = weight.clone()
    _multiplied_in_place(weight, head, n_heads)
    return before


@pytest.mark.parametrize(
    "answer",
    [
        _through(torch.Tensor.detach),
        _through(lambda weight: weight.data),
        _through(torch.Tensor.numpy),
        _without_gradients,
        _multiplied_in_place,
        _returned_as_it_was,
    ],
)
def test_what_must_stay_may_not_be_written_into_however_it_is_done(answer):
    assert check("circuits.remove", answer).misconception == "in place"
    back = check("circuits.remove", lambda *arguments: answer(*arguments[::-1]), variant="arguments from the back")
    assert back.misconception == "in place"


def test_what_must_stay_has_a_misconception_that_writes_into_it():
    for exercise in EXERCISES:
        if exercise.kept:
            inputs = draw(exercise, 0)
            outcomes = [run(one.function, inputs, kept=exercise.kept_places) for one in exercise.misconceptions]
            assert [WRITTEN] * len(inputs) in outcomes, exercise.id


def test_an_answer_that_changes_the_model_it_is_given_cannot_spoil_the_comparison():
    def without_the_future(model, symbols, n_symbols):
        model.mask.tril_()
        return torch.zeros(symbols.size(1), dtype=torch.bool)

    assert check("masking.leaks", without_the_future).status == "wrong"


def test_answers_in_numpy_count():
    def answer(scores):
        weights = scores.softmax(0).numpy()
        return np.diag(weights) - weights[:, None] * weights[None, :]

    assert check(JACOBIAN, answer).passed


@pytest.mark.parametrize(
    ("unknown", "known"), [("flahs.merge", "flash."), ("flash.none", "flash.attend"), ("flash", "flash.attend")]
)
def test_an_unknown_id_is_told_what_there_is(unknown, known):
    with pytest.raises(ValueError, match=f"exercise_id must .*'{known}'.* got '{unknown}'"):
        check(unknown, ...)


def test_an_exercise_that_moved_is_found_by_its_old_id():
    for old, new in MOVED.items():
        page = old.split(".")[0]
        assert find_exercise(old) is find_exercise(new)
        assert page not in CHAPTERS or old not in chapter_exercises(page)
    assert check("scaled_dot_product.dropout", find_exercise("scores.dropout").reference).passed


def test_only_the_chapter_asked_for_is_imported():
    code = """
import sys
from attention_course import check
check("flash.attend", ...)
print(*sorted(name for name in sys.modules if name.startswith("attention_course.exercises.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rsplit(".", 1)[1] for name in done.stdout.split()}
    assert loaded & set(CHAPTERS) == {"flash"}


@each_exercise
def test_the_first_row_alone_is_never_enough(exercise):
    """As where `return` stands within the loop, or a comma behind the result."""

    def first_row(*arguments):
        result = exercise.reference(*arguments)
        return [torch.as_tensor(result)[0] if getattr(result, "ndim", 0) else torch.as_tensor(result)[None]]

    if not isinstance(run(exercise.reference, draw(exercise, 0)[:1])[0], tuple):
        assert judge(exercise, first_row).status == "wrong"


@contextmanager
def of_bfloat16():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield


@contextmanager
def without_data():
    torch.set_default_device("meta")
    try:
        yield
    finally:
        torch.set_default_device(None)


@contextmanager
def of_float64():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("state", [torch.no_grad, torch.inference_mode, of_bfloat16, without_data, of_float64])
def test_what_is_switched_on_around_a_check_decides_nothing(state):
    right, wrong = (lambda x: (x @ x.mT).exp()), (lambda x: (x @ x.mT).exp() + 1e-3)
    exercise = Exercise("a.b", right, lambda size, generator: (normal(generator, size, size),), (), differentiable=True)
    with state():
        assert judge(exercise, right).passed
        assert judge(exercise, wrong).status == "wrong"
        assert draw(exercise, 0)[0][0].dtype is torch.float32
        made = judge(exercise, lambda x: (x @ x.mT).exp() * torch.ones(len(x)))
        assert made.passed, made


def test_what_is_switched_on_around_a_check_is_so_afterwards():
    with of_float64():
        assert check("flash.attend", chapter_exercises("flash")["flash.attend"].reference).passed
        assert torch.get_default_dtype() is torch.float64


def test_an_answer_may_return_what_its_next_call_overwrites():
    buffer = torch.zeros(10, 10)

    def answer(x):
        buffer[: len(x), : len(x)] = x @ x.mT
        return buffer[: len(x), : len(x)]

    assert judge(Exercise("a.b", lambda x: x @ x.mT, lambda size, g: (normal(g, size, 3),), ()), answer).passed


def test_a_missing_return_is_asked_for():
    assert "None: is there a return?" in judge(asking(lambda: 1.0), lambda: None).message
