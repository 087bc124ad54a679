"""Exercises of the chapter "Scaled dot-product attention"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import normal

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
            "The scores are not scaled. Nothing crashes, but in a wide layer most queries start out saturated.",
        ),
        Misconception(
            "softmax over the queries",
            _with_scores(lambda products, d_k: (products / d_k**0.5).softmax(-2)),
            "The softmax ran over the queries: columns sum to 1 instead of rows, and the queries compete for a key.",
        ),
        Misconception(
            "softmax over the batch",
            _with_scores(lambda products, d_k: (products / d_k**0.5).softmax(0)),
            "The softmax ran over the batch, so two unrelated examples share one unit of attention.",
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
)


# --- temperature -----------------------------------------------------------------------------


def attention_weights(query, key, temperature):
    return (query @ key.T / (temperature * key.size(-1) ** 0.5)).softmax(-1)


def _temperature_inputs(size, generator):
    temperature = 0.5 + 2 * torch.rand((), generator=generator).item()
    return normal(generator, size, 2 * size), normal(generator, size + 1, 2 * size), temperature


TEMPERATURE = Exercise(
    "scaled_dot_product.temperature",
    attention_weights,
    _temperature_inputs,
    (
        Misconception(
            "replaces sqrt(d_k)",
            lambda query, key, temperature: (query @ key.T / temperature).softmax(-1),
            "You divided by the temperature instead of sqrt(d_k). At temperature 1 nothing would be scaled: "
            "divide by both.",
        ),
        Misconception(
            "multiplies",
            lambda query, key, temperature: (query @ key.T * temperature / key.size(-1) ** 0.5).softmax(-1),
            "You multiplied by the temperature. Then heat sharpens, and cold flattens: that is 1 / temperature, "
            "usually called beta.",
        ),
        Misconception(
            "after the softmax",
            lambda query, key, temperature: attention_weights(query, key, 1.0) / temperature,
            "You divided the weights, not the scores: rows sum to 1 / temperature.",
        ),
        Misconception(
            "no temperature",
            lambda query, key, temperature: attention_weights(query, key, 1.0),
            "The temperature is not used.",
        ),
        Misconception(
            "inside the root",
            lambda query, key, temperature: (query @ key.T / (temperature * key.size(-1)) ** 0.5).softmax(-1),
            "The temperature slipped under the square root.",
        ),
    ),
)


# --- the Jacobian of the softmax ---------------------------------------------------------------


def softmax_jacobian(scores):
    weights = scores.softmax(0)
    return torch.diag(weights) - torch.outer(weights, weights)


JACOBIAN = Exercise(
    "scaled_dot_product.softmax_jacobian",
    softmax_jacobian,
    lambda size, generator: (normal(generator, size),),
    (
        Misconception(
            "diagonal only",
            lambda scores: torch.diag(scores.softmax(0) * (1 - scores.softmax(0))),
            "The diagonal is right, but the rest is not zero: raising one score lowers every other weight.",
        ),
        Misconception(
            "sign",
            lambda scores: -softmax_jacobian(scores),
            "The sign is the wrong way round: raising a score raises its own weight.",
        ),
        Misconception(
            "plus",
            lambda scores: torch.diag(scores.softmax(0)) + torch.outer(scores.softmax(0), scores.softmax(0)),
            "The outer product is added instead of subtracted. Weights sum to 1 whatever the scores are, so "
            "each column of the Jacobian sums to 0.",
        ),
        Misconception(
            "scores instead of weights",
            lambda scores: torch.diag(scores) - torch.outer(scores, scores),
            "You used the scores where the weights belong: apply the softmax first.",
        ),
        Misconception(
            "no outer product",
            lambda scores: torch.diag(scores.softmax(0)),
            "This is the derivative of the numerator. The sum in the denominator depends on every score too.",
        ),
        Misconception(
            "log-softmax",
            lambda scores: torch.eye(len(scores)) - scores.softmax(0)[None, :],
            "This is the Jacobian of log(softmax). Multiply row i by the weight i to undo the logarithm.",
        ),
    ),
)


# --- dropout on the weights ---------------------------------------------------------------------


def drop_weights(weights, keep, p):
    return weights * keep / (1 - p)


def _dropout_inputs(size, generator):
    p = 0.1 + 0.3 * torch.rand((), generator=generator).item()
    weights = normal(generator, size, size + 2).softmax(-1)
    keep = torch.rand(weights.shape, generator=generator) >= p
    keep[:, 0] = True  # at least one survivor a row
    keep[:, 1] = False
    return weights, keep, p


DROPOUT = Exercise(
    "scaled_dot_product.dropout",
    drop_weights,
    _dropout_inputs,
    (
        Misconception(
            "no rescaling",
            lambda weights, keep, p: weights * keep,
            "Survivors keep their size, so the output shrinks by 1 - p on average, in training only. "
            "What must survivors be multiplied by to keep the mean?",
        ),
        Misconception(
            "rows made to sum to 1",
            lambda weights, keep, p: weights * keep / (weights * keep).sum(-1, keepdim=True),
            "You made each row sum to 1 again. Dropout does not: it keeps the mean over many draws, and a "
            "single row's sum varies.",
        ),
        Misconception(
            "divides by p",
            lambda weights, keep, p: weights * keep / p,
            "You divided by p, the probability of being dropped. Divide by the probability of surviving.",
        ),
        Misconception(
            "multiplies by 1 - p",
            lambda weights, keep, p: weights * keep * (1 - p),
            "You shrank the survivors. They are too few already: they must grow.",
        ),
        Misconception(
            "keep inverted",
            lambda weights, keep, p: weights * ~keep / (1 - p),
            "You kept what should be dropped: keep is True for survivors.",
        ),
    ),
)


# --- one step of a modern Hopfield network --------------------------------------------------------


def retrieve(state, patterns, beta):
    return (beta * patterns @ state).softmax(0) @ patterns


def _retrieval_inputs(size, generator):
    d = size + 3
    beta = 0.3 + torch.rand((), generator=generator).item()
    return normal(generator, d), normal(generator, size, d), beta


RETRIEVE = Exercise(
    "scaled_dot_product.retrieve",
    retrieve,
    _retrieval_inputs,
    (
        Misconception(
            "nearest pattern",
            lambda state, patterns, beta: patterns[(patterns @ state).argmax()],
            "You returned the best pattern. That is the limit of large beta; a soft lookup blends.",
        ),
        Misconception(
            "divides by beta",
            lambda state, patterns, beta: (patterns @ state / beta).softmax(0) @ patterns,
            "beta is an inverse temperature: it multiplies.",
        ),
        Misconception(
            "no beta",
            lambda state, patterns, beta: (patterns @ state).softmax(0) @ patterns,
            "beta is not used.",
        ),
        Misconception(
            "also divided by sqrt(d)",
            lambda state, patterns, beta: (beta * patterns @ state / len(state) ** 0.5).softmax(0) @ patterns,
            "You scaled twice: beta plays the part of 1 / sqrt(d) here.",
        ),
        Misconception(
            "no softmax",
            lambda state, patterns, beta: beta * patterns @ state @ patterns,
            "There is no softmax: this is a linear memory, in which every stored pattern leaks into every answer.",
        ),
        Misconception(
            "returns the weights",
            lambda state, patterns, beta: (beta * patterns @ state).softmax(0),
            "These are the weights on the patterns. One step more: blend the patterns with them.",
        ),
    ),
)

EXERCISES = (ATTENTION, TEMPERATURE, JACOBIAN, DROPOUT, RETRIEVE)
