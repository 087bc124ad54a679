"""Exercises of the page "Why the square root?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- the Jacobian of the softmax ---------------------------------------------------------------


def softmax_jacobian(scores):
    return _jacobian(scores.softmax(0))


def _jacobian(weights):
    return torch.diag(weights) - torch.outer(weights, weights)


JACOBIAN = Exercise(
    "scale.softmax_jacobian",
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


# --- what to divide by ------------------------------------------------------------------------------


def divisor(d_k, std_query, std_key):
    return std_query * std_key * d_k**0.5


def _divisor_inputs(size, generator):
    stds = 0.2 + 2 * torch.rand(2, generator=generator)
    return integer(size, 10 * size, generator), *stds.tolist()


DIVISOR = Exercise(
    "scale.divisor",
    divisor,
    _divisor_inputs,
    (
        Misconception(
            "sizes ignored",
            lambda d_k, std_query, std_key: d_k**0.5,
            "This is right for components with the standard deviation 1. Smaller components make smaller products.",
        ),
        Misconception(
            "the variance",
            lambda d_k, std_query, std_key: std_query**2 * std_key**2 * d_k,
            "This is the variance of the score. Divide by its standard deviation.",
        ),
        Misconception(
            "variances under one root too few",
            lambda d_k, std_query, std_key: std_query**2 * std_key**2 * d_k**0.5,
            "You took the root of d_k alone. The variances stand under the same root.",
        ),
        Misconception(
            "standard deviations under the root",
            lambda d_k, std_query, std_key: (std_query * std_key * d_k) ** 0.5,
            "Under the root stand the variances, which are the squares of the standard deviations.",
        ),
        Misconception(
            "added",
            lambda d_k, std_query, std_key: (std_query + std_key) * d_k**0.5,
            "You added the two standard deviations. A score is a sum of products, so they are multiplied.",
        ),
        Misconception(
            "multiplies",
            lambda d_k, std_query, std_key: 1 / (std_query * std_key * d_k**0.5),
            "This is what to multiply by. The question asks what to divide by.",
        ),
        Misconception(
            "d_k",
            lambda d_k, std_query, std_key: std_query * std_key * d_k,
            "You multiplied by d_k. The variance grows like d_k, and the standard deviation like its root.",
        ),
    ),
)


# --- the gradient that reaches the query --------------------------------------------------------------


def query_gradient(query, key):
    return _jacobian(_weights(query, key)) @ key / len(query) ** 0.5


def _weights(query, key):
    return (key @ query / len(query) ** 0.5).softmax(0)


QUERY_GRADIENT = Exercise(
    "scale.query_gradient",
    query_gradient,
    lambda size, generator: (normal(generator, 2 * size), normal(generator, size + 1, 2 * size)),
    (
        Misconception(
            "no scale outside",
            lambda query, key: _jacobian(_weights(query, key)) @ key,
            "The factor 1 / sqrt(d_k) is missing outside: the scores are divided, and so is their derivative.",
        ),
        Misconception(
            "no scale at all",
            lambda query, key: _jacobian((key @ query).softmax(0)) @ key,
            "The scores are not divided by sqrt(d_k), neither before the softmax nor in their derivative.",
        ),
        Misconception(
            "scaled twice",
            lambda query, key: query_gradient(query, key) / len(query) ** 0.5,
            "You divided by sqrt(d_k) once too often: by the chain rule the factor comes in once.",
        ),
        Misconception(
            "diagonal only",
            lambda query, key: torch.diag(_weights(query, key)) @ key / len(query) ** 0.5,
            "Only the numerator of the softmax is differentiated. Each weight also falls when other scores rise: "
            "the mean key has to be taken off.",
        ),
        Misconception(
            "the Jacobian alone",
            lambda query, key: _jacobian(_weights(query, key)),
            "This is the derivative by the scores. One step more: the derivative of the scores by the query.",
        ),
        Misconception(
            "transposed",
            lambda query, key: query_gradient(query, key).T,
            "This is the matrix on its side. A row belongs to a weight, a column to a number of the query.",
        ),
        Misconception(
            "query instead of key",
            lambda query, key: torch.outer(_jacobian(_weights(query, key)).sum(1), query) / len(query) ** 0.5,
            "The derivative of q . k by q is the key, not the query.",
        ),
    ),
)

EXERCISES = (DIVISOR, JACOBIAN, QUERY_GRADIENT)
