"""Exercises of the page on approximations."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer

# --- Performer's features --------------------------------------------------------------------------


def positive_features(x, directions):
    x = x * x.size(-1) ** -0.25
    exponent = x @ directions.T - x.square().sum(-1, keepdim=True) / 2
    return exponent.exp() / len(directions) ** 0.5


def _feature_inputs(size, generator):
    return (
        0.7 * torch.randn(size, size + 2, generator=generator),
        torch.randn(integer(2, size + 9, generator), size + 2, generator=generator),
    )


def _wrong_features(exponent, *, power=-0.25, root=0.5):
    def wrong(x, directions):
        x = x * x.size(-1) ** power
        return exponent(x @ directions.T, x).exp() / len(directions) ** root

    return wrong


def _shifted(projected, x):
    return projected - x.square().sum(-1, keepdim=True) / 2


FEATURES = Exercise(
    "approximations.features",
    positive_features,
    _feature_inputs,
    (
        Misconception(
            "square of the length left out",
            _wrong_features(lambda projected, x: projected),
            "The exponent lacks the squared length. On average your products are exp(q . k) times a factor that "
            "grows with the lengths of both, and among the keys that factor does not cancel.",
        ),
        Misconception(
            "length not squared",
            _wrong_features(lambda projected, x: projected - x.norm(dim=-1, keepdim=True) / 2),
            "You subtracted half the length. The mean of exp(w . u) is exp(|u|^2 / 2), with the length squared.",
        ),
        Misconception(
            "not halved",
            _wrong_features(lambda projected, x: projected - x.square().sum(-1, keepdim=True)),
            "You subtracted the whole squared length. The mean of exp(w . u) is exp(|u|^2 / 2).",
        ),
        Misconception(
            "sign",
            _wrong_features(lambda projected, x: projected + x.square().sum(-1, keepdim=True) / 2),
            "You added the squared length. It is there to take out what the mean of exp(w . q) has too much.",
        ),
        Misconception(
            "scaled by the root of d twice",
            _wrong_features(_shifted, power=-0.5),
            "You divided by sqrt(d). Queries and keys both pass through this function, so their product would be "
            "divided by d: each takes half of the exponent.",
        ),
        Misconception(
            "not scaled",
            _wrong_features(_shifted, power=0.0),
            "The products estimate exp(q . k), without the sqrt(d) that attention divides by.",
        ),
        Misconception(
            "divided by m",
            _wrong_features(_shifted, root=1.0),
            "You divided by m. A product of two such features has that factor twice: each takes the square root.",
        ),
        Misconception(
            "a sum instead of a mean",
            _wrong_features(_shifted, root=0.0),
            "Products of your features are sums over the directions, m times too large. (In attention the factor "
            "cancels, but an estimate should not depend on how often you measured.)",
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
