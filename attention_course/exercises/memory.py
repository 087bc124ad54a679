"""Exercises of the page "What does attention store and retrieve?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal


def _number(generator, low, high):
    return low + (high - low) * torch.rand((), generator=generator).item()


# --- the update from the energy ----------------------------------------------------------------------


def update(state, patterns, beta):
    """The gradient of the energy is the state less its update: one step with learning rate 1 is the update."""
    return (beta * patterns @ state).softmax(0) @ patterns


def _update_inputs(size, generator):
    d = size + 3
    return normal(generator, d), normal(generator, size, d), _number(generator, 0.3, 0.8)


UPDATE = Exercise(
    "memory.update",
    update,
    _update_inputs,
    (
        Misconception(
            "uphill",
            lambda state, patterns, beta: 2 * state - update(state, patterns, beta),
            "You added the gradient. A step downhill subtracts it.",
        ),
        Misconception(
            "returns the gradient",
            lambda state, patterns, beta: state - update(state, patterns, beta),
            "You returned the gradient. Subtract it from the state.",
        ),
        Misconception(
            "no beta inside",
            lambda state, patterns, beta: update(state, patterns, 1) / beta,
            "beta is missing inside the exponential.",
        ),
        Misconception(
            "not divided by beta",
            lambda state, patterns, beta: beta * update(state, patterns, beta),
            "The logarithm is not divided by beta.",
        ),
        Misconception(
            "no beta at all",
            lambda state, patterns, beta: update(state, patterns, 1),
            "beta is missing, inside the exponential and in front of the logarithm.",
        ),
        Misconception(
            "the sign of the logarithm",
            lambda state, patterns, beta: -update(state, patterns, beta),
            "You added the logarithm. A state close to a pattern must have a low energy, so it is subtracted.",
        ),
        Misconception(
            "no half",
            lambda state, patterns, beta: update(state, patterns, beta) - state,
            "The square of the state counts half, or its gradient is twice the state. (Or this is the step: add it to "
            "the state.)",
        ),
        Misconception(
            "step added to the answer",
            lambda state, patterns, beta: state + update(state, patterns, beta),
            "You added the answer to the state. The step ends at the answer: the state itself drops out. (Or the "
            "energy lacks half the square of the state, without which its gradient is minus the answer.)",
        ),
    ),
)


# --- many states at once, given with mistakes ---------------------------------------------------------


def given_retrieve(states, patterns, beta):
    scores = patterns @ states.T / beta  # (n, n_states)
    weights = scores.softmax(-1)
    return weights.T @ patterns  # (n_states, d)


def _fixed(weigh):
    """An update whose weights `(n, n_states)` are made from the scores without beta."""
    return lambda states, patterns, beta: weigh(patterns @ states.T, beta).T @ patterns


def _retrieve_inputs(size, generator):
    d = size + 3
    return normal(generator, size - 1, d), normal(generator, size + 1, d), _number(generator, 0.3, 0.8)


RETRIEVE = Exercise(
    "memory.retrieve",
    _fixed(lambda scores, beta: (beta * scores).softmax(0)),
    _retrieve_inputs,
    (
        Misconception(
            "only beta fixed",
            _fixed(lambda scores, beta: (beta * scores).softmax(-1)),
            "beta multiplies now. One mistake is left: along which dimension do the weights sum to 1?",
        ),
        Misconception(
            "only the softmax fixed",
            _fixed(lambda scores, beta: (scores / beta).softmax(0)),
            "The weights of each state sum to 1 now. One mistake is left: should a large beta sharpen or flatten?",
        ),
        Misconception(
            "no beta",
            _fixed(lambda scores, beta: scores.softmax(0)),
            "beta is gone altogether. It multiplies the scores.",
        ),
        Misconception(
            "divided afterwards",
            _fixed(lambda scores, beta: (beta * scores).softmax(-1) / (beta * scores).softmax(-1).sum(0)),
            "You made the columns sum to 1 after a softmax along the rows. The rows had been divided by different "
            "sums before, and that stays in the weights.",
        ),
        Misconception(
            "one softmax for everything",
            _fixed(lambda scores, beta: (beta * scores).flatten().softmax(0).view_as(scores)),
            "All states share one unit of attention. Each of them has a unit of its own.",
        ),
        Misconception(
            "beta outside",
            _fixed(lambda scores, beta: beta * scores.softmax(0)),
            "beta multiplies the weights, which no longer sum to 1. It belongs to the scores.",
        ),
    ),
    given=given_retrieve,
    differentiable=True,
)

EXERCISES = (RETRIEVE, UPDATE)
