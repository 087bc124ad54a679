"""Heads whose weights were set by hand: where each query looks, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

LEFT = 92  # room for the queries' names
ROW = 24
GAP = 64  # between the weights and what comes back


@dataclass(frozen=True)
class Lookup:
    """One head at work.

    Attributes:
        title: What it does, in a few words.
        weights: `(n_queries, n_keys)`.
        answer: What its answer is called.
        answers: What comes back, the part that matters: `(n_queries, n_features)`.
        features: Names of these features.
    """

    title: str
    weights: Tensor
    answer: str
    answers: Tensor
    features: Sequence[str]


def by_hand(queries: Sequence[str], keys: Sequence[str], *lookups: Lookup, numbers: bool = False) -> Diagram:
    """What heads look at and bring back, one below the other.

    Args:
        queries: A name for each query.
        keys: A name for each key.
        lookups: One for each head, in the order in which they run.
        numbers: Whether to write the weights into their cells.
    """
    upright = any(len(key) > 2 for key in keys)
    above = 96 if upright else 66
    height = above + ROW * len(queries) + 22
    picture = Diagram(_alt(queries, keys, lookups), height=height * len(lookups))
    side = min(30.0, 214 / len(keys))
    for number, lookup in enumerate(lookups):
        top = number * height + above
        picture.text(8, number * height + 16, lookup.title, bold=True)
        grid = picture.tensor(
            LEFT,
            top,
            lookup.weights,
            name=lookup.title,
            cell=(side, ROW),
            tone="weights",
            largest=1,
            numbers=numbers,
            rows=queries,
            columns=keys,
        )
        cell = (max(28.0, min(52.0, 104 / len(lookup.features))), ROW)
        answers = picture.tensor(
            grid.x + grid.width + GAP,
            top,
            lookup.answers,
            name=lookup.answer,
            cell=cell,
            tone="output",
            largest=1,
            numbers=True,
            columns=lookup.features,
        )
        picture.arrow((grid.right[0] + 6, grid.right[1]), (answers.left[0] - 6, answers.left[1]))
        picture.text(answers.centre[0], top - 30, lookup.answer, anchor="middle")
    return picture


def _alt(queries: Sequence[str], keys: Sequence[str], lookups: Sequence[Lookup]) -> str:
    """The picture in words, read off its numbers: whom each query looks at."""
    told = []
    for lookup in lookups:
        looks = []
        for place, (query, row) in enumerate(zip(queries, lookup.weights.tolist(), strict=True), 1):
            seen = [f"{keys[key]} in place {key + 1}" for key, weight in enumerate(row) if weight > 0.1]
            looks.append(f"{query} in place {place} at {' and '.join(seen)}")
        told.append(f"In the map '{lookup.title}', these look: {'; '.join(looks)}. Right of it: {lookup.answer}.")
    several = "Heads" if len(lookups) > 1 else "A head"
    return f"{several} whose weights were set by hand. {' '.join(told)}"
