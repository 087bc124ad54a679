"""Exercises of the chapter "One vector is not enough"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import lengths_up_to, normal

# --- the additive score -------------------------------------------------------------------


def additive_scores(query, keys, W_q, W_k, v):
    return torch.tanh(W_q @ query + keys @ W_k.T) @ v


def _additive_inputs(size, generator):
    d_query, d_key, d_hidden = size + 1, size + 2, size + 3
    return (
        normal(generator, d_query),
        normal(generator, size - 1, d_key),
        normal(generator, d_hidden, d_query) / d_query**0.5,
        normal(generator, d_hidden, d_key) / d_key**0.5,
        normal(generator, d_hidden),
    )


ADDITIVE = Exercise(
    "bottleneck.additive_scores",
    additive_scores,
    _additive_inputs,
    (
        Misconception(
            "no tanh",
            lambda query, keys, W_q, W_k, v: (W_q @ query + keys @ W_k.T) @ v,
            "There is no tanh. Without it the query adds the same number to every score, the softmax "
            "removes it, and the weights do not depend on the query at all.",
        ),
        Misconception(
            "tanh of the score",
            lambda query, keys, W_q, W_k, v: torch.tanh((W_q @ query + keys @ W_k.T) @ v),
            "The tanh came last, after v. It belongs to the hidden layer: between the sum of the two "
            "projections and v.",
        ),
        Misconception(
            "ignores the query",
            lambda query, keys, W_q, W_k, v: torch.tanh(keys @ W_k.T) @ v,
            "Your scores do not change with the query, so every decoder step would look at the same place.",
        ),
        Misconception(
            "sums instead of v",
            lambda query, keys, W_q, W_k, v: torch.tanh(W_q @ query + keys @ W_k.T).sum(-1),
            "You added the hidden units up with equal votes. The learned vector v weighs them.",
        ),
        Misconception(
            "product of two tanhs",
            lambda query, keys, W_q, W_k, v: (torch.tanh(W_q @ query) * torch.tanh(keys @ W_k.T)) @ v,
            "Now query and key interact, but by a product. The additive score adds them, inside one tanh.",
        ),
        Misconception(
            "already weights",
            lambda query, keys, W_q, W_k, v: additive_scores(query, keys, W_q, W_k, v).softmax(0),
            "These are the weights. The exercise asks for the scores, before the softmax.",
        ),
    ),
    # What the page prints: whatever the query, the softmax of these scores is the same.
    given=lambda query, keys, W_q, W_k, v: (torch.tanh(W_q @ query) + torch.tanh(keys @ W_k.T)) @ v,
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

EXERCISES = (ADDITIVE, CONTEXT)
