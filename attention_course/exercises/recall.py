"""Exercises of the page on recall."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception


def from_others(keys, values):
    read = keys @ (keys.mT @ values)
    return read - keys.square().sum(-1, keepdim=True) * values


def _inputs(size, generator):
    n, d = 2 * size - 1, size + 1
    return torch.randn(n, d, generator=generator), torch.randn(n, size + 3, generator=generator)


OTHERS = Exercise(
    "recall.from_others",
    from_others,
    _inputs,
    (
        Misconception(
            "all that is read",
            lambda keys, values: keys @ (keys.T @ values),
            "This is all that a key reads, its own value included. Take its own share off.",
        ),
        Misconception(
            "as if keys had length 1",
            lambda keys, values: keys @ (keys.T @ values) - values,
            "You took the value off once. A key meets itself with its squared length, which is 1 only for some keys.",
        ),
        Misconception(
            "length not squared",
            lambda keys, values: keys @ (keys.T @ values) - keys.norm(dim=-1, keepdim=True) * values,
            "You took the value off times the key's length. A key's product with itself is its length squared.",
        ),
        Misconception(
            "normalised",
            lambda keys, values: (
                (keys @ (keys.T @ values) - keys.square().sum(-1, keepdim=True) * values)
                / (keys @ keys.sum(0))[:, None]
            ),
            "You divided by a normaliser. Here nothing is divided.",
        ),
        Misconception(
            "earlier pairs only",
            lambda keys, values: (keys @ keys.T).tril(-1) @ values,
            "You counted the earlier pairs only. The state holds all of them when it is read.",
        ),
        Misconception(
            "the same for every key",
            lambda keys, values: (keys.T @ values).sum(0).expand(len(keys), -1) - values,
            "You did not ask the state with the keys: every key gets the same sum.",
        ),
        Misconception(
            "sizes of the products",
            lambda keys, values: (keys @ keys.T).fill_diagonal_(0).abs() @ values,
            "You made the products of keys positive. One that points the other way takes away.",
        ),
    ),
)

EXERCISES = (OTHERS,)
