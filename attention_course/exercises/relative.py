"""Exercises of the page "Scores that know the distance"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

# --- which of Shaw's vectors belongs to a pair -------------------------------------------------------


def shaw_index(n_queries, n_keys, max_distance):
    query_position = torch.arange(n_keys - n_queries, n_keys)
    offset = torch.arange(n_keys) - query_position[:, None]
    return offset.clamp(-max_distance, max_distance) + max_distance


def _offset(n_queries, n_keys):
    return torch.arange(n_keys) - torch.arange(n_keys - n_queries, n_keys)[:, None]


SHAW = Exercise(
    "relative.shaw_index",
    shaw_index,
    lambda size, generator: (size, size + integer(0, 4, generator), integer(1, 4, generator)),
    (
        Misconception(
            "sign",
            lambda n_queries, n_keys, max_distance: (
                shaw_index(n_queries, n_keys, max_distance).neg() + 2 * max_distance
            ),
            "Past and future are swapped: the offset is the key's position minus the query's.",
        ),
        Misconception(
            "shifts before it clips",
            lambda n_queries, n_keys, max_distance: (_offset(n_queries, n_keys) + max_distance).clamp(
                -max_distance, max_distance
            ),
            "You clipped to ±max_distance after shifting, so the whole future shares one vector and indices go "
            "below 0 (which Python reads from the end of the table, without an error).",
        ),
        Misconception(
            "no shift",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys).clamp(-max_distance, max_distance),
            "Your indices start at -max_distance. A table's rows start at 0.",
        ),
        Misconception(
            "no clip",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys) + max_distance,
            "Offsets beyond max_distance point outside the table of 2 max_distance + 1 rows.",
        ),
        Misconception(
            "distance instead of offset",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys).abs().clamp(max=max_distance),
            "You took the absolute value, so a key two places before looks like one two places after.",
        ),
        Misconception(
            "queries from 0",
            lambda n_queries, n_keys, max_distance: (
                (torch.arange(n_keys) - torch.arange(n_queries)[:, None]).clamp(-max_distance, max_distance)
                + max_distance
            ),
            "You counted the queries from 0. They are the newest tokens: the last query stands at the last key.",
        ),
    ),
)


# --- ALiBi's bias ---------------------------------------------------------------------------------------


def alibi_bias(n_heads, n_queries, n_keys):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return -slopes[:, None, None] * _offset(n_queries, n_keys).abs()


def _with_slopes(make_slopes):
    """A wrong bias whose slopes come from the numbers of the heads, counted from 1, and how many there are."""

    def wrong(n_heads, n_queries, n_keys):
        slopes = make_slopes(torch.arange(1, n_heads + 1), n_heads)
        return -slopes[:, None, None] * _offset(n_queries, n_keys).abs()

    return wrong


ALIBI = Exercise(
    "relative.alibi_bias",
    alibi_bias,
    lambda size, generator: (integer(1, 9, generator), size, size + integer(0, 4, generator)),
    (
        Misconception(
            "sign",
            lambda n_heads, n_queries, n_keys: -alibi_bias(n_heads, n_queries, n_keys),
            "Your bias grows with the distance, so the farthest keys win. It must fall.",
        ),
        Misconception(
            "slopes without the number of heads",
            _with_slopes(lambda head, n_heads: 2.0**-head),
            "Your slopes halve from head to head whatever the number of heads. That is right for 8 heads; "
            "in general the last head's slope is 1/256.",
        ),
        Misconception(
            "heads from 0",
            _with_slopes(lambda head, n_heads: 2.0 ** (-8 * (head - 1) / n_heads)),
            "You counted heads from 0, so the first head's slope is 1. The paper counts from 1.",
        ),
        Misconception(
            "one slope for all",
            _with_slopes(lambda head, n_heads: torch.full((n_heads,), 2.0 ** (-8 / n_heads))),
            "All heads fall equally fast. Each has a slope of its own, so that some look far and some near.",
        ),
        Misconception(
            "linear slopes",
            _with_slopes(lambda head, n_heads: head / n_heads),
            "Your slopes lie on a line. They are a geometric sequence: each is the one before times 2^(-8 / n_heads).",
        ),
        Misconception(
            "future rewarded",
            lambda n_heads, n_queries, n_keys: (
                2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)[:, None, None] * _offset(n_queries, n_keys)
            ),
            "Without an absolute value, keys after the query get a positive bias that grows with the distance. "
            "A causal mask would hide it; here there is none.",
        ),
        Misconception(
            "queries from 0",
            lambda n_heads, n_queries, n_keys: (
                -(2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads))[:, None, None]
                * (torch.arange(n_keys) - torch.arange(n_queries)[:, None]).abs()
            ),
            "You counted the queries from 0. They are the newest tokens: the last query stands at the last key.",
        ),
    ),
)

EXERCISES = (SHAW, ALIBI)
