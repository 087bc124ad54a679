"""Exercises of the page "What does self-attention not see?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- the distance from equivariance ------------------------------------------------------------------


def gap(layer, X, order):
    return (layer(X[order]) - layer(X)[order]).abs().max()


def _gap_inputs(size, generator):
    n_tokens, d = size + 2, size
    matrix, places = normal(generator, d, d), normal(generator, n_tokens, 1)

    def layer(X):
        # A part that is equivariant, one that is invariant, and one that depends on the place.
        return X @ matrix + X.mean(0) + places * X

    return layer, normal(generator, n_tokens, d), torch.randperm(n_tokens, generator=generator)


GAP = Exercise(
    "order.gap",
    gap,
    _gap_inputs,
    (
        Misconception(
            "invariance",
            lambda layer, X, order: (layer(X[order]) - layer(X)).abs().max(),
            "You compared with the outputs in their old order. That measures how far the function is from invariant.",
        ),
        Misconception(
            "the inverse order",
            lambda layer, X, order: (layer(X[order]) - layer(X)[order.argsort()]).abs().max(),
            "You moved the outputs the wrong way: the inputs moved by [order], and the outputs should move alike.",
        ),
        Misconception(
            "no absolute value",
            lambda layer, X, order: (layer(X[order]) - layer(X)[order]).max(),
            "A large negative difference is a difference too.",
        ),
        Misconception(
            "mean",
            lambda layer, X, order: (layer(X[order]) - layer(X)[order]).abs().mean(),
            "You took the mean. Asked for is the largest difference.",
        ),
        Misconception(
            "means of the rows",
            lambda layer, X, order: (layer(X[order]).mean(0) - layer(X)[order].mean(0)).abs().max(),
            "You compared the means of the outputs. Equal means do not make equal rows.",
        ),
    ),
)

EXERCISES = (GAP,)
