"""Exercises of the chapter "One vector is not enough"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import lengths_up_to, normal

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
            "two separate tanhs",
            lambda query, keys, W_q, W_k, v: (torch.tanh(W_q @ query) + torch.tanh(keys @ W_k.T)) @ v,
            "You squashed query and key separately and added afterwards. The two can only interact if "
            "they are added inside one tanh.",
        ),
        Misconception(
            "already weights",
            lambda query, keys, W_q, W_k, v: additive_scores(query, keys, W_q, W_k, v).softmax(0),
            "These are the weights. The exercise asks for the scores, before the softmax.",
        ),
    ),
)


# --- a bilinear score for a whole batch ----------------------------------------------------


def general_scores(query, key, W):
    return query @ W @ key.transpose(-2, -1)


def _general_inputs(size, generator):
    # Queries and keys have one width: a transposed W then runs, and is wrong.
    width, batch = size + 2, (2, 3, 1)[size % 3]
    return (
        normal(generator, batch, size - 1, width),
        normal(generator, batch, size + 1, width),
        normal(generator, width, width) / width,
    )


GENERAL = Exercise(
    "bottleneck.general_scores",
    general_scores,
    _general_inputs,
    (
        Misconception(
            "W transposed",
            lambda query, key, W: query @ W.T @ key.transpose(-2, -1),
            "W is transposed: you computed k W q where q W k was asked. Both run, because both widths "
            "are the same here. Write the shapes beside each product.",
        ),
        Misconception(
            "no W",
            lambda query, key, W: query @ key.transpose(-2, -1),
            "W is not used: this is Luong's dot score.",
        ),
        Misconception(
            "scaled",
            lambda query, key, W: general_scores(query, key, W) / query.size(-1) ** 0.5,
            "You divided by the square root of the width. That is the next chapter: Luong's scores are unscaled.",
        ),
        Misconception(
            "scores transposed",
            lambda query, key, W: general_scores(query, key, W).transpose(-2, -1),
            "A row must belong to a query: (batch, n_queries, n_keys). Yours belongs to a key.",
        ),
        Misconception(
            "already weights",
            lambda query, key, W: general_scores(query, key, W).softmax(-1),
            "These are the weights. The exercise asks for the scores, before the softmax.",
        ),
        Misconception(
            ".T on a batch",
            lambda query, key, W: query @ W @ key.permute(2, 1, 0),
            "key.T reverses all three dimensions, the batch included. Swap the last two only.",
        ),
    ),
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
)


# --- how wrong is an alignment? ---------------------------------------------------------------


def alignment_error(weights, gold):
    hit = gold.gather(-1, weights.argmax(-1, keepdim=True))
    return 1 - hit.double().mean()


def _alignment_inputs(size, generator):
    shape = ((3, 1, 2)[size % 3], size + 2, size + 1)
    gold = torch.rand(shape, generator=generator) < 0.3
    gold[:, :, 0] |= ~gold.any(-1)  # each target token has a gold source token
    weights = (normal(generator, *shape) + 1.5 * gold).softmax(-1)
    return weights, gold


ALIGNMENT = Exercise(
    "bottleneck.alignment_error",
    alignment_error,
    _alignment_inputs,
    (
        Misconception(
            "accuracy, not error",
            lambda weights, gold: 1 - alignment_error(weights, gold),
            "This is the share of hits. The error is the share of misses.",
        ),
        Misconception(
            "argmax over the targets",
            lambda weights, gold: 1 - gold.gather(-2, weights.argmax(-2, keepdim=True)).double().mean(),
            "You took the largest weight of each column: which target looks most at a source token. "
            "Each target token's own choice is in its row.",
        ),
        Misconception(
            "mass instead of the largest weight",
            lambda weights, gold: 1 - (weights * gold).sum(-1).mean(),
            "You measured how much weight lies off the gold tokens. That is a good score too, but the "
            "exercise counts target tokens whose largest weight misses.",
        ),
        Misconception(
            "compares two argmaxes",
            lambda weights, gold: (weights.argmax(-1) != gold.int().argmax(-1)).double().mean(),
            "You compared with the first gold token only. Where a source symbol occurs twice, several "
            "are right: any of them counts as a hit.",
        ),
        Misconception(
            "whole sequences",
            lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, keepdim=True)).all(-2).double().mean(),
            "You counted a sequence as wrong when one of its tokens is. Count tokens.",
        ),
    ),
)


# --- what additive attention costs --------------------------------------------------------------


def additive_multiplications(n_queries, n_keys, d):
    return n_queries * d * d + n_keys * d * d + n_queries * n_keys * d


def _cost_inputs(size, generator):
    return tuple(int(number) for number in torch.randint(2, 20 * size, (3,), generator=generator))


COST = Exercise(
    "bottleneck.additive_multiplications",
    additive_multiplications,
    _cost_inputs,
    (
        Misconception(
            "keys projected for every query",
            lambda n_queries, n_keys, d: n_queries * d * d + n_queries * n_keys * d * d + n_queries * n_keys * d,
            "You project every key again for every query. W_k k does not depend on the query: once is enough.",
        ),
        Misconception(
            "both projected for every pair",
            lambda n_queries, n_keys, d: n_queries * n_keys * (2 * d * d + d),
            "You project both vectors again for every pair. Each query and each key needs its projection once.",
        ),
        Misconception(
            "no projections",
            lambda n_queries, n_keys, d: n_queries * n_keys * d,
            "These are the products with v. The projections W_q q and W_k k cost something too.",
        ),
        Misconception(
            "no v",
            lambda n_queries, n_keys, d: (n_queries + n_keys) * d * d,
            "These are the two projections. Each pair still needs the product with v.",
        ),
        Misconception(
            "v once",
            lambda n_queries, n_keys, d: (n_queries + n_keys) * d * d + d,
            "The product with v is needed for every pair of a query and a key, not once.",
        ),
    ),
)

EXERCISES = (ADDITIVE, GENERAL, CONTEXT, ALIGNMENT, COST)
