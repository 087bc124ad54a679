"""Exercises of the chapter "One vector is not enough"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import lengths_up_to, normal

# --- a look back with one query ------------------------------------------------------------


def look_back(query, states):
    return (states @ query).softmax(0) @ states


def _look_back_inputs(size, generator):
    return normal(generator, size + 1), normal(generator, size, size + 1)


LOOK_BACK = Exercise(
    "bottleneck.look_back",
    look_back,
    _look_back_inputs,
    (
        Misconception(
            "scores as weights",
            lambda query, states: (states @ query) @ states,
            "There is no softmax: the scores themselves blend the states. They may be negative, and do not sum to 1.",
        ),
        Misconception(
            "sizes of the scores",
            lambda query, states: (states @ query).abs() / (states @ query).abs().sum() @ states,
            "These weights are positive and sum to 1, but a state that points away from the query gets as much as one "
            "that points its way: the sign of the score is lost. The softmax keeps the order of the scores.",
        ),
        Misconception(
            "exponentials not divided",
            lambda query, states: (states @ query).exp() @ states,
            "You took the exponentials, and did not divide them by their sum: the weights do not sum to 1.",
        ),
        Misconception(
            "only the best",
            lambda query, states: states[(states @ query).argmax()],
            "This is the one state with the largest score. The context is a blend of all of them.",
        ),
        Misconception(
            "plain mean",
            lambda query, states: states.mean(0),
            "This is the plain mean of the states: the query is not used.",
        ),
        Misconception(
            "scaled",
            lambda query, states: (states @ query / query.size(-1) ** 0.5).softmax(0) @ states,
            "You divided the scores by the square root of the width. That belongs to the next lesson.",
        ),
        Misconception(
            "already weights",
            lambda query, states: (states @ query).softmax(0),
            "These are the weights. The exercise asks for the context: the states, blended by them.",
        ),
    ),
    # What the page prints: the weights sum to 1, and may be negative or huge.
    given=lambda query, states: (states @ query) / (states @ query).sum() @ states,
    differentiable=True,
)


# --- from scores to a context, with padding --------------------------------------------------


def context(scores, states, lengths):
    real = torch.arange(scores.size(1)) < lengths[:, None]
    weights = scores.masked_fill(~real, float("-inf")).softmax(1)
    return (weights[:, :, None] * states).sum(1)


def _context_inputs(size, generator):
    batch, n_keys = size - 1, size + 2
    lengths = lengths_up_to(n_keys, batch, generator)
    states = normal(generator, batch, n_keys, size)
    states[torch.arange(n_keys) >= lengths[:, None]] *= 100  # padding is no small matter
    return normal(generator, batch, n_keys), states, lengths


def _with_weights(make_weights):
    """A wrong context from wrong weights: the rest as it should be."""

    def wrong(scores, states, lengths):
        real = torch.arange(scores.size(1)) < lengths[:, None]
        return (make_weights(scores, real)[:, :, None] * states).sum(1)

    return wrong


CONTEXT = Exercise(
    "bottleneck.context",
    context,
    _context_inputs,
    (
        Misconception(
            "no mask",
            _with_weights(lambda scores, real: scores.softmax(1)),
            "The padding votes: states behind the end of a sequence get weight. Use lengths.",
        ),
        Misconception(
            "mask after softmax",
            _with_weights(lambda scores, real: scores.softmax(1) * real),
            "You zeroed the padding after the softmax. What is left sums to less than 1, so short "
            "sequences get a shrunken context. Mask the scores first.",
        ),
        Misconception(
            "padding scores set to 0",
            _with_weights(lambda scores, real: (scores * real).softmax(1)),
            "A score of 0 is not a weight of 0: exp(0) = 1. Which score has the exponential 0?",
        ),
        Misconception(
            "mask inverted",
            _with_weights(lambda scores, real: scores.masked_fill(real, float("-inf")).softmax(1)),
            "Your mask is the wrong way round: only the padding is attended to.",
        ),
        Misconception(
            "softmax over the batch",
            _with_weights(lambda scores, real: scores.masked_fill(~real, float("-inf")).softmax(0)),
            "The softmax ran over the batch, so the sentences compete with each other. It belongs on "
            "the dimension of the keys.",
        ),
        Misconception(
            "off by one",
            lambda scores, states, lengths: context(scores, states, lengths + 1),
            "One padded state too many is let in: positions count from 0, so the last real one is length - 1.",
        ),
        Misconception(
            "plain mean",
            _with_weights(lambda scores, real: real / real.sum(1, keepdim=True)),
            "This is the plain mean of the real states: the scores are not used.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (LOOK_BACK, CONTEXT)
