"""Exercises of the page "Does it hold for real?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- how alike two heads look ---------------------------------------------------------------------


def _divided_anew(weights):
    rest = weights[1:, 1:]
    return rest / rest.sum(-1, keepdim=True)


def overlap(first, second):
    return torch.minimum(_divided_anew(first), _divided_anew(second)).sum(-1).mean()


def _overlap_inputs(size, generator):
    n = size + 3
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    return tuple((1.5 * normal(generator, n, n)).masked_fill(hidden, -torch.inf).softmax(-1) for _ in range(2))


OVERLAP = Exercise(
    "for_real.overlap",
    overlap,
    _overlap_inputs,
    (
        Misconception(
            "first token kept",
            lambda first, second: torch.minimum(first, second)[1:].sum(-1).mean(),
            "You kept the first token. Two heads that put most of their weight there would count as alike, wherever "
            "else they look.",
        ),
        Misconception(
            "not divided anew",
            lambda first, second: torch.minimum(first, second)[1:, 1:].sum(-1).mean(),
            "You left the first column out, and the rest of a row no longer sums to 1. Divide each row by its sum.",
        ),
        Misconception(
            "divided after the minimum",
            lambda first, second: _divided_anew(torch.minimum(first, second)).sum(-1).mean(),
            "You divided what both heads share by its own sum: that is 1 for any two heads. Divide each head's rows "
            "first.",
        ),
        Misconception(
            "the larger ones",
            lambda first, second: torch.maximum(_divided_anew(first), _divided_anew(second)).sum(-1).mean(),
            "You added the larger of the two weights. What both heads have in common is the smaller one.",
        ),
        Misconception(
            "product",
            lambda first, second: (_divided_anew(first) * _divided_anew(second)).sum(-1).mean(),
            "A product is not what two heads share: of two equal heads it makes less than 1, unless they look at one "
            "token only.",
        ),
        Misconception(
            "all queries counted",
            lambda first, second: (
                torch.minimum(_divided_anew(first), _divided_anew(second)).sum(-1).mean() * (1 - 1 / len(first))
            ),
            "You divided by the number of all queries. The first sees the first token alone and does not count.",
        ),
        Misconception(
            "mean over cells",
            lambda first, second: torch.minimum(_divided_anew(first), _divided_anew(second)).mean(),
            "You took the mean over all cells. Add up each row first; the mean is over queries.",
        ),
    ),
)

EXERCISES = (OVERLAP,)
