"""Exercises of the chapter "Scaled dot-product attention"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- attention itself ------------------------------------------------------------------------


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
    return scores.softmax(-1) @ value


def _attention_inputs(size, generator):
    d_k, leading = 2 * size, ((2,), (1, 3), ())[size % 3]
    return (
        normal(generator, *leading, size, d_k) / 2,
        normal(generator, *leading, size + 1, d_k) / 2,
        normal(generator, *leading, size + 1, size + 2),
    )


def _with_scores(make_weights):
    """A wrong attention whose weights are made from the raw products."""

    def wrong(query, key, value):
        return make_weights(query @ key.transpose(-2, -1), key.size(-1)) @ value

    return wrong


def _three_mistakes(query, key, value):
    """Handed out to be fixed."""
    products = query @ key.transpose(1, 2)
    weights = (products / key.size(-1)).softmax(1)
    return weights @ value


ATTENTION = Exercise(
    "scaled_dot_product.attention",
    attention,
    _attention_inputs,
    (
        Misconception(
            "divides by d_k",
            _with_scores(lambda products, d_k: (products / d_k).softmax(-1)),
            "You divided by d_k. The variance of the scores grows like d_k, so their spread grows like "
            "its square root. (A library that takes a temperature and is given d_model makes this mistake.)",
        ),
        Misconception(
            "no scaling",
            _with_scores(lambda products, d_k: products.softmax(-1)),
            "The scores are not scaled. Nothing crashes, but in a very wide layer many queries start out saturated.",
        ),
        Misconception(
            "softmax over the queries",
            _with_scores(lambda products, d_k: (products / d_k**0.5).softmax(-2)),
            "The softmax ran over the queries: columns sum to 1 instead of rows, and the queries compete for a key.",
        ),
        Misconception(
            "softmax(1)",
            _with_scores(lambda products, d_k: (products / d_k**0.5).softmax(1)),
            "Dimension 1 is the queries in a plain batch, and the heads where there are heads. Count from the back: "
            "softmax(-1).",
        ),
        Misconception(
            "the values' width",
            lambda query, key, value: attention(query * (key.size(-1) / value.size(-1)) ** 0.5, key, value),
            "You divided by the root of the values' width. The products are sums over the width of the keys.",
        ),
        Misconception(
            "softmax over the batch",
            _with_scores(lambda products, d_k: (products / d_k**0.5).softmax(0)),
            "The softmax ran over the batch, so two unrelated examples share one weight of 1.",
        ),
        Misconception(
            "hard lookup",
            _with_scores(lambda products, d_k: torch.zeros_like(products).scatter(-1, products.argmax(-1, True), 1.0)),
            "You returned the value of the best key: hard lookup. It has no gradient for query and key to learn from.",
        ),
        Misconception(
            "scaled after the softmax",
            _with_scores(lambda products, d_k: products.softmax(-1) / d_k**0.5),
            "You scaled the weights, after the softmax: they no longer sum to 1. Scale the scores.",
        ),
        Misconception(
            "multiplies by sqrt(d_k)",
            _with_scores(lambda products, d_k: (products * d_k**0.5).softmax(-1)),
            "You multiplied by the square root of d_k. The scores are too large already: divide.",
        ),
        Misconception(
            "transpose(2, 3)",
            lambda query, key, value: (query @ key.transpose(2, 3) / key.size(-1) ** 0.5).softmax(-1) @ value,
            "transpose(2, 3) counts dimensions from the front, so it needs a heads dimension. Count from "
            "the back, -2 and -1, and any number of leading dimensions works.",
        ),
        Misconception(
            "transpose(1, 2)",
            lambda query, key, value: (query @ key.transpose(1, 2) / key.size(-1) ** 0.5).softmax(-1) @ value,
            "transpose(1, 2) counts dimensions from the front, so it needs a batch and no heads. Count from "
            "the back, -2 and -1, and any number of leading dimensions works.",
        ),
    ),
    given=_three_mistakes,
    differentiable=True,
)


# --- scores from distances -------------------------------------------------------------------------


def closeness(query, key, value):
    return _by_distance(query, key, value, lambda distance: -(distance**2) / 2)


def _by_distance(query, key, value, score):
    distance = (query[:, None] - key[None]).square().sum(-1).sqrt()  # (n_q, n_k)
    return score(distance).softmax(-1) @ value


CLOSENESS = Exercise(
    "scaled_dot_product.closeness",
    closeness,
    lambda size, generator: (
        normal(generator, size, 2 * size) / 2,
        normal(generator, size + 1, 2 * size) / 2,
        normal(generator, size + 1, size + 2),
    ),
    (
        Misconception(
            "sign",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: distance**2 / 2),
            "The sign is missing: the farthest key gets the most weight.",
        ),
        Misconception(
            "not squared",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: -distance / 2),
            "The distance is not squared. torch.cdist returns the distance itself.",
        ),
        Misconception(
            "not halved",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: -(distance**2)),
            "The squared distance is not halved. The weights become sharper: that is a temperature of one half.",
        ),
        Misconception(
            "neither squared nor halved",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: -distance),
            "The distance is neither squared nor halved. torch.cdist returns the distance itself.",
        ),
        Misconception(
            "neither sign nor half",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: distance**2),
            "The sign is missing, so the farthest key gets the most weight; and so is the half.",
        ),
        Misconception(
            "inverse distance",
            lambda query, key, value: _by_distance(query, key, value, lambda distance: 1 / distance),
            "You scored by one over the distance. That is closeness too, but the question asks for minus half of "
            "its square.",
        ),
        Misconception(
            "divided by sqrt(d_k)",
            lambda query, key, value: _by_distance(
                query, key, value, lambda distance: -(distance**2) / 2 / key.size(-1) ** 0.5
            ),
            "You also divided by the square root of d_k. The question asks for minus half the squared distance alone.",
        ),
        Misconception(
            "softmax over the queries",
            lambda query, key, value: (-(torch.cdist(query, key) ** 2) / 2).softmax(0) @ value,
            "The softmax ran over the queries. Each query divides its own weight of 1 among the keys: softmax(-1).",
        ),
        Misconception(
            "dot product",
            lambda query, key, value: (query @ key.T).softmax(-1) @ value,
            "This is the dot product. It leaves out the length of the keys, which the distance takes into account.",
        ),
        Misconception(
            "nearest key",
            lambda query, key, value: value[torch.cdist(query, key).argmin(-1)],
            "You returned the value of the closest key: a hard lookup.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (ATTENTION, CLOSENESS)
