"""Exercises of the page "Look into your own model"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- the token before ------------------------------------------------------------------------------


def previous_token(attentions):
    return torch.stack(attentions).diagonal(-1, dim1=-2, dim2=-1).mean((1, 3))


def _previous_inputs(size, generator):
    n_layers, batch, heads, n = 1 + size % 3, (2, 1, 3)[size % 3], 2 + size % 2, size + 3
    return (tuple((2 * normal(generator, batch, heads, n, n)).softmax(-1) for _ in range(n_layers)),)


PREVIOUS = Exercise(
    "own_model.previous",
    previous_token,
    _previous_inputs,
    (
        Misconception(
            "the token behind",
            lambda attentions: torch.stack(attentions).diagonal(1, dim1=-2, dim2=-1).mean((1, 3)),
            "You read the cells just above the diagonal: the weight on the token that comes next.",
        ),
        Misconception(
            "the token itself",
            lambda attentions: torch.stack(attentions).diagonal(0, dim1=-2, dim2=-1).mean((1, 3)),
            "You read the diagonal: the weight that each token gives to itself.",
        ),
        Misconception(
            "divided by all queries",
            lambda attentions: (
                torch.stack(attentions).diagonal(-1, dim1=-2, dim2=-1).sum(-1).mean(1) / attentions[0].size(-1)
            ),
            "You divided by n. The first query has no token before it: n - 1 queries are left.",
        ),
        Misconception(
            "first text only",
            lambda attentions: previous_token(tuple(layer[:1] for layer in attentions)),
            "You took the first text of the batch. The average runs over all of them.",
        ),
        Misconception(
            "heads averaged",
            lambda attentions: torch.stack(attentions).diagonal(-1, dim1=-2, dim2=-1).mean((2, 3)),
            "You averaged over the heads and kept the texts: the axes are layers, batch, heads, queries, keys.",
        ),
        Misconception(
            "first layer only",
            lambda attentions: previous_token(attentions[:1]),
            "You took the first layer. There should be a row for each.",
        ),
    ),
)


# --- maps of one's own -----------------------------------------------------------------------------


def maps(query, key):
    return (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-1)


def _maps_inputs(size, generator):
    heads, n_queries, n_keys, d = 1 + size % 3, size + 2, size + (2, 4, 3)[size % 3], 3 + size
    return 2 * normal(generator, heads, n_queries, d), normal(generator, heads, n_keys, d)


def _swapped(query, key):
    """Handed out to be fixed."""
    return (key @ query.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-2)


MAPS = Exercise(
    "own_model.maps",
    maps,
    _maps_inputs,
    (
        Misconception(
            "only the softmax changed",
            lambda query, key: (key @ query.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-1),
            "Rows sum to 1 now, but each belongs to a key. The product must have queries as its rows.",
        ),
        Misconception(
            "only the product changed",
            lambda query, key: (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-2),
            "Rows are queries now, but the softmax still runs down the columns: the rows do not sum to 1.",
        ),
        Misconception(
            "reshaped",
            lambda query, key: _swapped(query, key).reshape(*query.shape[:-1], key.size(-2)),
            "The shape is right, and the numbers are in the wrong places: reshape does not swap axes.",
        ),
        Misconception(
            "no scale",
            lambda query, key: (query @ key.transpose(-2, -1)).softmax(-1),
            "You lost the division by the square root of d on the way.",
        ),
    ),
    given=_swapped,
)


EXERCISES = (PREVIOUS, MAPS)
