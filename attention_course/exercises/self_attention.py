"""Exercises of the chapter "Self-attention"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- the layer, given with mistakes --------------------------------------------------------------


def self_attention(X, W_Q, W_K, W_V):
    query, key, value = X @ W_Q, X @ W_K, X @ W_V
    return (query @ key.T / key.size(-1) ** 0.5).softmax(-1) @ value


def given_self_attention(X, W_Q, W_K, W_V):
    query, key, value = X @ W_Q, X @ W_Q, X @ W_V
    scores = query @ key.T / key.size(-1) ** 0.5
    return scores.softmax(0) @ value


def _layer_inputs(size, generator):
    # n_tokens = size - 1, d_model = size + 1, d_k = size + 2 and d_v = size + 3: no two alike.
    d_model = size + 1
    return (
        normal(generator, size - 1, d_model),
        normal(generator, d_model, size + 2) / 2,
        normal(generator, d_model, size + 2) / 2,
        normal(generator, d_model, size + 3),
    )


def _with_weights(make_weights):
    """A wrong layer with the right values, its weights made from X and two of the projections."""

    def wrong(X, W_Q, W_K, W_V):
        return make_weights(X, X @ W_Q, X @ W_K) @ (X @ W_V)

    return wrong


LAYER = Exercise(
    "self_attention.layer",
    self_attention,
    _layer_inputs,
    (
        Misconception(
            "values not projected",
            lambda X, W_Q, W_K, W_V: _with_weights(_scaled)(X, W_Q, W_K, torch.eye(X.size(-1))),
            "You blended the tokens themselves. What a token hands over is its value, X W_V.",
        ),
        Misconception(
            "no query projection",
            lambda X, W_Q, W_K, W_V: self_attention(X, W_K, W_K, W_V),
            "Queries and keys came from the same matrix, W_K: the scores are symmetric, and a token likes itself best.",
        ),
        Misconception(
            "no key projection",
            lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_Q, W_V),
            "Queries and keys came from the same matrix, W_Q: the scores are symmetric, and a token likes itself best.",
        ),
        Misconception(
            "tokens compared without projections",
            _with_weights(lambda X, query, key: (X @ X.T / X.size(-1) ** 0.5).softmax(-1)),
            "You compared the tokens themselves. What is compared is X W_Q with X W_K.",
        ),
        Misconception(
            "queries and keys exchanged",
            _with_weights(lambda X, query, key: _scaled(X, key, query)),
            "Keys ask and queries answer in your scores: a row of the scores belongs to a query.",
        ),
        Misconception(
            "scaled by d_model",
            _with_weights(lambda X, query, key: (query @ key.T / X.size(-1) ** 0.5).softmax(-1)),
            "You divided by the square root of d_model. The dot products run over d_k numbers.",
        ),
        Misconception(
            "no scaling",
            _with_weights(lambda X, query, key: (query @ key.T).softmax(-1)),
            "The scores are not divided by the square root of d_k.",
        ),
        Misconception(
            "softmax over the queries",
            _with_weights(lambda X, query, key: (query @ key.T / key.size(-1) ** 0.5).softmax(0)),
            "The softmax ran down the columns. Each token has one unit of attention to give: rows sum to 1.",
        ),
    ),
    given=given_self_attention,
    differentiable=True,
)


def _scaled(X, query, key):
    return (query @ key.T / key.size(-1) ** 0.5).softmax(-1)


# --- the weights of a reordered sequence ------------------------------------------------------------


def reorder(weights, order):
    return weights[order][:, order]


def _reorder_inputs(size, generator):
    n_tokens = size + 2
    return normal(generator, n_tokens, n_tokens).softmax(-1), torch.randperm(n_tokens, generator=generator)


REORDER = Exercise(
    "self_attention.reorder",
    reorder,
    _reorder_inputs,
    (
        Misconception(
            "rows only",
            lambda weights, order: weights[order],
            "You moved the rows, the queries. The keys moved too.",
        ),
        Misconception(
            "columns only",
            lambda weights, order: weights[:, order],
            "You moved the columns, the keys. The queries moved too.",
        ),
        Misconception(
            "unchanged",
            lambda weights, order: weights,
            "You left the map as it was, which would be invariance. What each token gets stays; where it stands moves.",
        ),
        Misconception(
            "inverse order",
            lambda weights, order: weights[order.argsort()][:, order.argsort()],
            "You moved the tokens the other way: order[i] is where the token that now stands at i came from.",
        ),
        Misconception(
            "pairs",
            lambda weights, order: weights[order, order],
            "Indexing with order twice at once picks single entries, the diagonal. You want whole rows, then whole "
            "columns.",
        ),
    ),
)


# --- forbidding one key ------------------------------------------------------------------------------


def forbid(weights, key):
    left = weights.clone()
    left[:, key] = 0
    return left / left.sum(-1, keepdim=True)


def _forbid_inputs(size, generator):
    n_keys = size + 2
    key = integer(0, n_keys - 1, generator)
    return normal(generator, size, n_keys).softmax(-1), key


def _without(weights, key):
    left = weights.clone()
    left[:, key] = 0
    return left


def _shared_evenly(weights, key):
    others = weights + weights[:, key : key + 1] / (weights.size(-1) - 1)
    return _without(others, key)


FORBID = Exercise(
    "self_attention.forbid",
    forbid,
    _forbid_inputs,
    (
        Misconception(
            "rows no longer sum to 1",
            _without,
            "The key is gone, and its share with it: rows sum to less than 1. A softmax over the other keys sums to 1.",
        ),
        Misconception(
            "shared out evenly",
            _shared_evenly,
            "You gave every other key the same extra. Leaving a key out of a softmax keeps the *ratios* of the others.",
        ),
        Misconception(
            "softmax of the weights",
            lambda weights, key: _without(weights, key).softmax(-1),
            "You took a softmax of weights. It wants scores: a weight of 0 becomes exp(0) = 1, and the key is back.",
        ),
        Misconception(
            "softmax of the weights, key at minus infinity",
            lambda weights, key: weights.masked_fill(torch.arange(weights.size(-1)) == key, -torch.inf).softmax(-1),
            "The key is out, but the others went through a second softmax, which flattens them. Divide instead.",
        ),
        Misconception(
            "columns made to sum to 1",
            lambda weights, key: _without(weights, key) / weights.sum(0),
            "You divided by the sums of the columns. It is each query, each row, that has one unit to give.",
        ),
        Misconception(
            "row removed",
            lambda weights, key: torch.cat([weights[:key], weights[key + 1 :]]),
            "You removed a query. What must go is a key: a column.",
        ),
    ),
)


EXERCISES = (LAYER, REORDER, FORBID)
