"""Exercises of the page "Bring your bug"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# How a token reaches an output: not at all, in the last feature alone, or in two, one up and the other as far down.
# Larger numbers: by attention.
NOT, LATE, UP_AND_DOWN = range(3)

# --- who has a say? --------------------------------------------------------------------------------


def say(layer, x, other):
    return torch.stack([_moves(layer, x, _exchanged(x, other, place)) for place in range(len(x))], dim=1)


def _exchanged(x, other, place):
    return torch.cat([x[:place], other[place : place + 1], x[place + 1 :]])


def _moves(layer, x, changed):
    return (layer(changed) - layer(x)).abs().amax(-1) > 1e-6


def _layers(size, generator):
    """A layer in which a token reaches an output in one of several ways, drawn at random, or not at all."""
    n, d = size + 2, size + 1
    x, other = normal(generator, 2, n, d)
    way = torch.randint(5, (n, n), generator=generator)
    # The last token reaches the first output, and not the other way round: the transpose is another table. Its relu
    # lets nothing through for x, so that a derivative there does not show it.
    way[0, 1:3], way[0, -1], way[-1, 0], way[-1, -2] = UP_AND_DOWN, LATE, NOT, NOT
    x[-1, 0], other[-1, 0] = -1, 1
    may_attend = (way > UP_AND_DOWN) | torch.eye(n, dtype=torch.bool)

    def layer(tokens):
        scores = tokens @ tokens.T / d**0.5
        output = scores.masked_fill(~may_attend, float("-inf")).softmax(-1) @ tokens
        late = (way == LATE).float() @ tokens[:, 0].relu() / n
        up = (way == UP_AND_DOWN).float() @ tokens[:, 1] / n
        moved = torch.stack([up, -up, *[torch.zeros(n)] * (d - 3), late], dim=1)
        return output + moved + 3e-8 * tokens.roll(1, 0)  # as little as rounding does

    return layer, x, other


def _kept(layer, x, other):
    """Tokens stay exchanged: the second column has two of them."""
    columns, changed = [], x.clone()
    for place in range(len(x)):
        changed[place] = other[place]
        columns.append(_moves(layer, x, changed))
    return torch.stack(columns, dim=1)


SAY = Exercise(
    "diagnose.say",
    say,
    _layers,
    (
        Misconception(
            "rows for columns",
            lambda layer, x, other: say(layer, x, other).T,
            "Your table is turned: at [i, j] you have whether output j moves where token i is exchanged. The token is "
            "the column.",
        ),
        Misconception(
            "exchanged for good",
            _kept,
            "A token stays exchanged while you go on to the next, so a column shows what several tokens do together. "
            "Begin each time with a fresh copy of x.",
        ),
        Misconception(
            "all the others",
            lambda layer, x, other: torch.stack(
                [_moves(layer, x, _exchanged(other, x, place)) for place in range(len(x))], dim=1
            ),
            "You exchanged all tokens but one. Then nearly every output moves, and you cannot tell why.",
        ),
        Misconception(
            "numbers in place of a threshold",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) - layer(x)).abs().amax(-1) for j in range(len(x))], dim=1
            ),
            "These are the sizes of the moves. The table asks whether an output moved: compare with 1e-6.",
        ),
        Misconception(
            "the first number of each output",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) - layer(x))[:, 0] > 1e-6 for j in range(len(x))], dim=1
            ),
            "An output is a vector, and it may move down as well as up: take the largest absolute difference of its "
            "numbers.",
        ),
        Misconception(
            "without the sign",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) - layer(x)).amax(-1) > 1e-6 for j in range(len(x))], dim=1
            ),
            "A difference may be negative: take its absolute value before the largest.",
        ),
        Misconception(
            "the size of the first number",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) - layer(x))[:, 0].abs() > 1e-6 for j in range(len(x))], dim=1
            ),
            "You look at some numbers of each output, such as the first, and not at all. An output is a vector, and "
            "may move in any of them: take the largest difference.",
        ),
        Misconception(
            "the mean of the differences",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) - layer(x)).mean(-1).abs() > 1e-6 for j in range(len(x))], dim=1
            ),
            "In a mean, or a sum, of differences what goes up and what goes down cancel. Take absolute values first, "
            "and the largest of them.",
        ),
        Misconception(
            "no threshold",
            lambda layer, x, other: torch.stack(
                [(layer(_exchanged(x, other, j)) != layer(x)).any(-1) for j in range(len(x))], dim=1
            ),
            "You ask whether anything differs. Rounding alone makes differences of some 1e-7: compare with 1e-6.",
        ),
        Misconception(
            "stays",
            lambda layer, x, other: ~say(layer, x, other),
            "True stands where an output stays as it was. The table asks where one moves.",
        ),
    ),
)


# --- make it show its weights ------------------------------------------------------------------------


def shown_weights(attention, query, key):
    return attention(query, key, torch.eye(len(key)))


def _functions(size, generator):
    """A function with a scale and a bias of its own, more keys than queries, and keys of another width."""
    n_queries, n_keys, d = size + 1, size + 3, size + 2
    query, key = normal(generator, n_queries, d), normal(generator, n_keys, d)
    scale = 0.3 + torch.rand((), generator=generator).item()
    distance = (torch.arange(n_queries)[:, None] - torch.arange(n_keys)).abs()

    def attention(query, key, value):
        if len(value) != len(key):
            raise ValueError(f"value must have {len(key)} rows, as key has, got {len(value)}")
        scores = scale * (query @ key.T) - 0.2 * distance
        return scores.softmax(-1) @ value

    return attention, query, key


WEIGHTS = Exercise(
    "diagnose.weights",
    shown_weights,
    _functions,
    (
        Misconception(
            "computed anew",
            lambda attention, query, key: (query @ key.T / key.size(-1) ** 0.5).softmax(-1),
            "This is what a plain attention would do. The one you were given has a scale and a bias of its own: let it "
            "show its weights itself.",
        ),
        Misconception(
            "ones",
            lambda attention, query, key: attention(query, key, torch.ones(len(key), len(key))),
            "With values of ones each blend is the sum of its weights: 1 everywhere. That is a test too, but it does "
            "not tell the weights apart.",
        ),
        Misconception(
            "keys as values",
            lambda attention, query, key: attention(query, key, key),
            "You handed the keys over as values, so these are blends of keys. Which values leave the weights as they "
            "are?",
        ),
        Misconception(
            "one for each query",
            lambda attention, query, key: attention(query, key, torch.eye(len(query))),
            "There is one value for each key, not for each query: the identity has as many rows as there are keys.",
        ),
        Misconception(
            "as wide as a key",
            lambda attention, query, key: attention(query, key, torch.eye(len(key), key.size(-1))),
            "The identity is cut off at the width of a key. Values may be of another width: as many numbers as keys.",
        ),
        Misconception(
            "turned",
            lambda attention, query, key: attention(query, key, torch.eye(len(key))).T,
            "Your table is turned: rows are queries, and each sums to 1.",
        ),
        Misconception(
            "softmax again",
            lambda attention, query, key: attention(query, key, torch.eye(len(key))).softmax(-1),
            "What comes back are weights already. A second softmax makes them nearly even.",
        ),
    ),
)

EXERCISES = (SAY, WEIGHTS)
