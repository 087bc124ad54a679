"""Exercises of the page "What does attention store and retrieve?"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal


def _number(generator, low, high):
    return low + (high - low) * torch.rand((), generator=generator).item()


# --- several updates -------------------------------------------------------------------------------


def settle(states, patterns, beta, n_steps):
    for _ in range(n_steps):
        states = (beta * states @ patterns.T).softmax(-1) @ patterns
    return states


def _settle_inputs(size, generator):
    d = size + 3
    # From half a step up to one: small enough for the states to keep moving.
    beta = _number(generator, 0.5, 1.0)
    return normal(generator, size - 1, d), normal(generator, size + 1, d), beta, integer(2, 4, generator)


def _settle(update):
    def wrong(states, patterns, beta, n_steps):
        for _ in range(n_steps):
            states = update(states, patterns, beta)
        return states

    return wrong


SETTLE = Exercise(
    "memory.settle",
    settle,
    _settle_inputs,
    (
        Misconception(
            "one step",
            lambda states, patterns, beta, n_steps: settle(states, patterns, beta, 1),
            "You made one update. Each further one starts from the state that the last one returned.",
        ),
        Misconception(
            "one step too few",
            lambda states, patterns, beta, n_steps: settle(states, patterns, beta, n_steps - 1),
            "You made one update too few: count how often your loop runs.",
        ),
        Misconception(
            "larger beta instead of more steps",
            lambda states, patterns, beta, n_steps: settle(states, patterns, n_steps * beta, 1),
            "You made one update with a larger beta. That sharpens the weights but never asks again with the answer.",
        ),
        Misconception(
            "softmax over the states",
            _settle(lambda states, patterns, beta: (beta * states @ patterns.T).softmax(0) @ patterns),
            "The softmax ran over the states. Each state divides one unit of attention among the patterns.",
        ),
        Misconception(
            "divides by beta",
            lambda states, patterns, beta, n_steps: settle(states, patterns, 1 / beta, n_steps),
            "beta is an inverse temperature: it multiplies the scores.",
        ),
        Misconception(
            "also divided by sqrt(d)",
            lambda states, patterns, beta, n_steps: settle(states, patterns, beta / patterns.size(1) ** 0.5, n_steps),
            "You scaled twice: beta stands in the place of 1 / sqrt(d).",
        ),
        Misconception(
            "added to the state",
            _settle(lambda states, patterns, beta: states + settle(states, patterns, beta, 1)),
            "You added each answer to the state. The answer replaces the state.",
        ),
    ),
)


# --- the energy ------------------------------------------------------------------------------------


def energy(state, patterns, beta):
    return state @ state / 2 - (beta * patterns @ state).logsumexp(0) / beta


def _energy_inputs(size, generator):
    d = size + 3
    return normal(generator, d), normal(generator, size, d), _number(generator, 0.3, 0.8)


ENERGY = Exercise(
    "memory.energy",
    energy,
    _energy_inputs,
    (
        Misconception(
            "not divided by beta",
            lambda state, patterns, beta: state @ state / 2 - (beta * patterns @ state).logsumexp(0),
            "The logarithm is not divided by beta.",
        ),
        Misconception(
            "no half",
            lambda state, patterns, beta: energy(state, patterns, beta) + state @ state / 2,
            "The square of the state counts half.",
        ),
        Misconception(
            "the sign of the logarithm",
            lambda state, patterns, beta: state @ state - energy(state, patterns, beta),
            "You added the logarithm. A state close to a pattern must have a low energy, so it is subtracted.",
        ),
        Misconception(
            "no beta inside",
            lambda state, patterns, beta: state @ state / 2 - (patterns @ state).logsumexp(0) / beta,
            "beta is missing inside the exponential.",
        ),
        Misconception(
            "largest score",
            lambda state, patterns, beta: state @ state / 2 - (patterns @ state).max(),
            "You took the largest score. That is what the logarithm tends to for a very large beta.",
        ),
        Misconception(
            "mean of the exponentials",
            lambda state, patterns, beta: energy(state, patterns, beta) + torch.tensor(len(patterns)).log() / beta,
            "You averaged the exponentials. They are summed.",
        ),
        Misconception(
            "logarithms summed",
            lambda state, patterns, beta: state @ state / 2 - (patterns @ state).sum(),
            "You summed logarithms of exponentials, which gives back the scores. First the sum, then the logarithm.",
        ),
    ),
)


# --- many states at once, given with mistakes ---------------------------------------------------------


def given_retrieve(states, patterns, beta):
    scores = patterns @ states.T / beta  # (n, n_states)
    weights = scores.softmax(-1)
    return weights.T @ patterns  # (n_states, d)


def _mended(weigh):
    """An update whose weights `(n, n_states)` are made from the scores without beta."""
    return lambda states, patterns, beta: weigh(patterns @ states.T, beta).T @ patterns


def _retrieve_inputs(size, generator):
    d = size + 3
    return normal(generator, size - 1, d), normal(generator, size + 1, d), _number(generator, 0.3, 0.8)


RETRIEVE = Exercise(
    "memory.retrieve",
    _mended(lambda scores, beta: (beta * scores).softmax(0)),
    _retrieve_inputs,
    (
        Misconception(
            "only beta mended",
            _mended(lambda scores, beta: (beta * scores).softmax(-1)),
            "beta multiplies now. One mistake is left: along which dimension do the weights sum to 1?",
        ),
        Misconception(
            "only the softmax mended",
            _mended(lambda scores, beta: (scores / beta).softmax(0)),
            "The weights of each state sum to 1 now. One mistake is left: should a large beta sharpen or flatten?",
        ),
        Misconception(
            "no beta",
            _mended(lambda scores, beta: scores.softmax(0)),
            "beta is gone altogether. It multiplies the scores.",
        ),
        Misconception(
            "divided afterwards",
            _mended(lambda scores, beta: (beta * scores).softmax(-1) / (beta * scores).softmax(-1).sum(0)),
            "You made the columns sum to 1 after a softmax along the rows. The rows had been divided by different "
            "sums before, and that stays in the weights.",
        ),
        Misconception(
            "one softmax for everything",
            _mended(lambda scores, beta: (beta * scores).flatten().softmax(0).view_as(scores)),
            "All states share one unit of attention. Each of them has a unit of its own.",
        ),
        Misconception(
            "beta outside",
            _mended(lambda scores, beta: beta * scores.softmax(0)),
            "beta multiplies the weights, which no longer sum to 1. It belongs to the scores.",
        ),
    ),
    given=given_retrieve,
)

EXERCISES = (RETRIEVE, SETTLE, ENERGY)
