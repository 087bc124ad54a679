"""Exercises of the page on approximations."""

from functools import partial

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

# --- Performer's features, each direction both ways ------------------------------------------------


def _half_square(x):
    return x.square().sum(-1, keepdim=True) / 2


def _features(x, directions, *, power=-0.25, length=_half_square, root=0.5, times=2):
    x = x * x.size(-1) ** power
    projected = x @ directions.T
    exponent = torch.cat([projected, -projected], dim=-1) - length(x)
    return exponent.exp() / (times * len(directions)) ** root


def two_way_features(x, directions):
    return _features(x, directions)


def _feature_inputs(size, generator):
    return (
        0.7 * torch.randn(size, size + 2, generator=generator),
        torch.randn(integer(2, size + 9, generator), size + 2, generator=generator),
    )


def _turned_with_the_length(x, directions):
    features = two_way_features(x, directions)
    forth = features[:, : len(directions)]
    return torch.cat([forth, 1 / (2 * len(directions) * forth)], dim=-1)


def _in_pairs(x, directions):
    return two_way_features(x, directions).unflatten(-1, (2, -1)).mT.flatten(-2)


def _one_way(x, directions):
    return two_way_features(x, directions)[:, : len(directions)] * 2**0.5


FEATURES = Exercise(
    "approximations.features",
    two_way_features,
    _feature_inputs,
    (
        Misconception(
            "square of the length left out",
            partial(_features, length=lambda x: 0),
            "The exponent lacks the squared length. On average your products are exp(q . k) times a factor that "
            "grows with the lengths of both, and among the keys that factor does not cancel.",
        ),
        Misconception(
            "length not squared",
            partial(_features, length=lambda x: x.norm(dim=-1, keepdim=True) / 2),
            "You subtracted half the length. The mean of exp(w . u) is exp(|u|^2 / 2), with the length squared.",
        ),
        Misconception(
            "not halved",
            partial(_features, length=lambda x: 2 * _half_square(x)),
            "You subtracted the whole squared length. The mean of exp(w . u) is exp(|u|^2 / 2).",
        ),
        Misconception(
            "sign",
            partial(_features, length=lambda x: -_half_square(x)),
            "You added the squared length. It is there to take out what the mean of exp(w . q) has too much.",
        ),
        Misconception(
            "the length turned round with the direction",
            _turned_with_the_length,
            "For -w you changed the sign of the whole exponent. The direction turns round, and the length of x stays "
            "what it was: half its square is subtracted for both.",
        ),
        Misconception(
            "scaled by the root of d twice",
            partial(_features, power=-0.5),
            "You divided by sqrt(d). Queries and keys both pass through this function, so their product would be "
            "divided by d: each takes half of the exponent.",
        ),
        Misconception(
            "not scaled",
            partial(_features, power=0.0),
            "The products estimate exp(q . k), without the sqrt(d) that attention divides by.",
        ),
        Misconception(
            "divided by the root of m",
            partial(_features, times=1),
            "You divided by the root of m. A product now sums over two features for each direction, so that yours are "
            "twice too large on average.",
        ),
        Misconception(
            "divided by 2m",
            partial(_features, root=1.0),
            "You divided by 2m. A product of two such features has that factor twice: each takes the square root.",
        ),
        Misconception(
            "a sum instead of a mean",
            partial(_features, root=0.0),
            "Products of your features are sums over the directions, 2m times too large. (In attention the factor "
            "cancels, but an estimate should not depend on how often you measured.)",
        ),
        Misconception(
            "in pairs",
            _in_pairs,
            "These are the right numbers, in pairs: one direction forth and back, then the next. First come all "
            "directions as they are, and then all of them turned round.",
        ),
        Misconception(
            "one way only",
            _one_way,
            "These are the features of the lesson, for the directions as they are. Each is to be used turned round, "
            "too.",
        ),
    ),
    differentiable=True,
)


# --- a layout of blocks ------------------------------------------------------------------------------


def block_layout(n_blocks, window, n_global):
    block = torch.arange(n_blocks)
    is_global = block < n_global
    return ((block[:, None] - block).abs() <= window) | is_global | is_global[:, None]


def _layout_inputs(size, generator):
    return size + 4, integer(0, 3, generator), integer(0, 3, generator)


def _band(n_blocks, window):
    block = torch.arange(n_blocks)
    return (block[:, None] - block).abs() <= window


def _wrong_layout(combine):
    """A wrong layout from the band, the row of global blocks and their column."""

    def wrong(n_blocks, window, n_global):
        is_global = torch.arange(n_blocks) < n_global
        return combine(_band(n_blocks, window), is_global, is_global[:, None])

    return wrong


LAYOUT = Exercise(
    "approximations.layout",
    block_layout,
    _layout_inputs,
    (
        Misconception(
            "global blocks see nothing special",
            _wrong_layout(lambda band, seen, sees: band | seen),
            "Everyone sees the global blocks, but they do not see everyone: their rows are missing.",
        ),
        Misconception(
            "global blocks are not seen",
            _wrong_layout(lambda band, seen, sees: band | sees),
            "The global blocks see everyone, but nobody sees them: their columns are missing, and nothing that "
            "they collect is handed on.",
        ),
        Misconception(
            "and instead of or",
            _wrong_layout(lambda band, seen, sees: band & (seen | sees)),
            "A pair has to be near and global here. One of the two is enough.",
        ),
        Misconception(
            "global with each other only",
            _wrong_layout(lambda band, seen, sees: band | (seen & sees)),
            "Only pairs of which both blocks are global were added. One of the two is enough.",
        ),
        Misconception(
            "window to one side",
            _wrong_layout(lambda band, seen, sees: band.tril() | seen | sees),
            "The window looks back only. It reaches to either side.",
        ),
        Misconception(
            "window one too small",
            lambda n, window, n_global: block_layout(n, window - 1, n_global),
            "A block exactly `window` places away may be seen too: mind the < and the <=.",
        ),
    ),
)


# --- where the counts cross ----------------------------------------------------------------------------


def crossover(n_heads, d, m):
    return (8 * m * d + 2 * m) / (4 * d)


def _crossover_inputs(size, generator):
    return integer(2, 9, generator), integer(4, 9 * size, generator), integer(4, 9 * size, generator)


CROSSOVER = Exercise(
    "approximations.crossover",
    crossover,
    _crossover_inputs,
    (
        Misconception(
            "two products of four",
            lambda n_heads, d, m: (4 * m * d + 2 * m) / (4 * d),
            "Two of the four products of 2nmd are missing. The four are: features of queries, features of keys, the "
            "state, reading the state.",
        ),
        Misconception(
            "three products of four",
            lambda n_heads, d, m: (6 * m * d + 2 * m) / (4 * d),
            "One of the four products of 2nmd is missing. The four are: features of queries, features of keys, the "
            "state, reading the state.",
        ),
        Misconception(
            "normaliser forgotten",
            lambda n_heads, d, m: 2 * m,
            "Close: the product with the normaliser is missing, one number a query.",
        ),
        Misconception(
            "scores only",
            lambda n_heads, d, m: (8 * m * d + 2 * m) / (2 * d),
            "You counted the scores of exact attention, but not the product of weights and values.",
        ),
        Misconception(
            "linear attention's",
            lambda n_heads, d, m: d,
            "That is where elu + 1 crosses, whose features are as many as d. Performer has m of them, and has to "
            "make them.",
        ),
        Misconception(
            "heads on one side",
            lambda n_heads, d, m: n_heads * (8 * m * d + 2 * m) / (4 * d),
            "Both sides are done once for every head, so the number of heads cancels.",
        ),
    ),
)

EXERCISES = (FEATURES, LAYOUT, CROSSOVER)
