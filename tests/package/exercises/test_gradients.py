"""Where an answer belongs in a model, its gradients are looked at too: what cuts them off is told in a sentence."""

import inspect

import pytest
import torch
from choosing import weekly

from attention_course import check
from attention_course.exercises import CHAPTERS, chapter_exercises
from attention_course.exercises.judging.checking import Exercise, judge
from attention_course.exercises.judging.gradients import IN_PLACE, fault, gradients_of

EXERCISES = [exercise for chapter in CHAPTERS for exercise in chapter_exercises(chapter).values()]
each_in_a_model = pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if exercise.differentiable], ids=lambda exercise: exercise.id
)


def is_float(argument):
    return isinstance(argument, torch.Tensor) and argument.is_floating_point()


def arguments_of(exercise):
    """The names of an exercise's arguments that hold floats."""
    names = inspect.signature(exercise.reference).parameters
    arguments = exercise.inputs(3, torch.Generator().manual_seed(0))
    return [name for name, argument in zip(names, arguments, strict=True) if is_float(argument)]


def each(outcome, change):
    return tuple(map(change, outcome)) if isinstance(outcome, tuple) else change(outcome)


def refused(exercise, answer):
    """The sentence about an answer whose numbers are right."""
    verdict = judge(exercise, answer)
    assert (verdict.status, verdict.misconception) == ("wrong", "gradient"), verdict
    assert verdict.message.startswith("The numbers are right, but ")
    return verdict.message


@each_in_a_model
def test_the_reference_in_double_passes(exercise):
    def in_double(*arguments):
        doubled = [argument.double() if is_float(argument) else argument for argument in arguments]
        return each(exercise.reference(*doubled), torch.Tensor.float)

    if not any(map(callable, exercise.inputs(3, torch.Generator().manual_seed(0)))):  # layers of floats stay so
        assert judge(exercise, in_double).passed


def detached(reference):
    return lambda *arguments: each(reference(*arguments), torch.Tensor.detach)


def through_numpy(reference):
    return lambda *arguments: reference(*(torch.tensor(x.numpy()) if is_float(x) else x for x in arguments))


@each_in_a_model
@pytest.mark.parametrize("cut_off", [detached, weekly(through_numpy)])
def test_an_answer_without_gradients_is_told_so(exercise, cut_off):
    told = refused(exercise, cut_off(exercise.reference))
    assert f"no gradient reaches {', '.join(arguments_of(exercise))}: .detach()" in told


@each_in_a_model
def test_each_detached_argument_is_named(exercise):
    for name in arguments_of(exercise):
        index = list(inspect.signature(exercise.reference).parameters).index(name)

        def without(*arguments, index=index):
            return exercise.reference(*arguments[:index], arguments[index].detach(), *arguments[index + 1 :])

        assert f"no gradient reaches {name}: .detach()" in refused(exercise, without), name


def test_a_single_number_that_item_took_out_is_told_so():
    def with_item(logits, target):
        return torch.nn.functional.cross_entropy(logits, target).item()

    assert "no gradient reaches logits: " in check("primer.cross_entropy", with_item).message


def test_what_is_cut_off_on_some_ways_only_is_told_so():
    def detached_weights(X, W_Q, W_K, W_V):
        scores = (X @ W_Q) @ (X @ W_K).T / W_K.size(1) ** 0.5
        return scores.softmax(-1).detach() @ (X @ W_V)

    def detached_queries(X, W_Q, W_K, W_V):
        scores = (X.detach() @ W_Q) @ (X @ W_K).T / W_K.size(1) ** 0.5
        return scores.softmax(-1) @ (X @ W_V)

    assert "no gradient reaches W_Q, W_K: " in check("self_attention.layer", detached_weights).message
    message = check("self_attention.layer", detached_queries).message
    assert "that reaches X is not: perhaps it is cut off on one of the ways" in message


def doubling(answer):
    """The verdict on an answer that is to double a vector."""
    exercise = Exercise(
        "test.double", lambda x: 2 * x, lambda size, generator: (torch.ones(size),), (), differentiable=True
    )
    return judge(exercise, answer)


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x.mul_(2),
        lambda x: list(x + x),
        lambda x: [2 * number for number in x],
        lambda x: (2 * x.double()).float(),
        lambda x: (x.detach() - x.detach()) + 2 * x,
    ],
)
def test_right_gradients_pass_however_they_are_made(answer):
    assert doubling(answer).passed


def test_a_gradient_that_is_not_finite_is_told_so():
    def covered_up(x):
        return torch.where(x > 0, 2 * x, (x - x) / (x - x))

    assert "that reaches x is not finite" in doubling(covered_up).message


def test_what_works_without_a_gradient_alone_is_shown_with_its_error():
    def refuses(x):
        if x.requires_grad:
            raise ValueError("no gradients here")
        return 2 * x

    assert "for tensors that require a gradient there is ValueError: no gradients here" in doubling(refuses).message


def test_numbers_are_looked_at_first():
    assert doubling(lambda x: 3 * x.detach()).misconception is None
    assert "Expected 2" in doubling(lambda x: 3 * x.detach()).message


def test_where_an_answer_is_no_part_of_a_model_nobody_asks():
    reference = chapter_exercises("self_attention")["self_attention.forbid"].reference
    assert check("self_attention.forbid", lambda weights, key: reference(weights, key).detach()).passed


def test_what_is_changed_in_place_is_told_so():
    def in_place(x):
        weights = x.exp()
        weights /= weights.sum(-1, keepdim=True)
        return weights

    inputs = [(torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)]
    assert fault(lambda x: x.softmax(-1), gradients_of(in_place, inputs), inputs) == IN_PLACE
