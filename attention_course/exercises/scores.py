"""Exercises of the page "Other scores"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

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
    "scores.general_scores",
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
    differentiable=True,
)


# --- what additive attention costs --------------------------------------------------------------


def additive_multiplications(n_queries, n_keys, d):
    return n_queries * d * d + n_keys * d * d + n_queries * n_keys * d


def _cost_inputs(size, generator):
    return tuple(int(number) for number in torch.randint(2, 20 * size, (3,), generator=generator))


COST = Exercise(
    "scores.additive_multiplications",
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

EXERCISES = (GENERAL, COST)
