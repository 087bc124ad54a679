"""Exercises of the chapter "Efficient variants"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer


def _positive(generator, *shape):
    return 0.1 + torch.rand(shape, generator=generator)


# --- linear attention with padding ---------------------------------------------------------------


def linear_attention(query_features, key_features, value, mask):
    key_features = key_features * mask[:, None]
    state, normaliser = key_features.T @ value, key_features.sum(0)
    return query_features @ state / (query_features @ normaliser)[:, None]


def _linear_inputs(size, generator):
    n_keys, n_features = size + 3, size + 1
    mask = torch.rand(n_keys, generator=generator) < 0.5
    mask[0], mask[1] = True, size % 3 == 0
    value = torch.randn(n_keys, size + 2, generator=generator)
    return (
        _positive(generator, size - 1, n_features),
        _positive(generator, n_keys, n_features),
        torch.where(mask[:, None], value, 10 * value),
        mask,
    )


LINEAR = Exercise(
    "efficient.linear",
    linear_attention,
    _linear_inputs,
    (
        Misconception(
            "normalised by the query's features",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / q.sum(-1, keepdim=True),
            "You divided by the sum of the query's features. The sum of the weights has the keys in it too: with "
            "yours, values that are all 1 come out as something that grows with the number of keys.",
        ),
        Misconception(
            "no normaliser",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v),
            "Nothing is divided, so the weights do not sum to 1 and outputs grow with the number of keys.",
        ),
        Misconception(
            "divided by the number of keys",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / mask.sum(),
            "You divided by the number of keys. That is the sum of the weights only if every similarity is 1.",
        ),
        Misconception(
            "mask not used",
            lambda q, k, v, mask: linear_attention(q, k, v, torch.ones_like(mask)),
            "The mask is not used: padding is summed up with the rest.",
        ),
        Misconception(
            "mask inverted",
            lambda q, k, v, mask: linear_attention(q, k, v, ~mask),
            "You kept what should be hidden. True means: may be attended to.",
        ),
        Misconception(
            "hidden keys still counted",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / (q @ k.sum(0))[:, None],
            "Hidden keys are out of the state but still in the normaliser, so what is left does not sum to 1.",
        ),
        Misconception(
            "values hidden only in the normaliser",
            lambda q, k, v, mask: q @ (k.T @ v) / (q @ (k * mask[:, None]).sum(0))[:, None],
            "Hidden keys are out of the normaliser but still in the state: padding reaches the output.",
        ),
        Misconception(
            "normaliser without the query",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / (k * mask[:, None]).sum(),
            "You divided every query by the same number, the sum of all keys' features. How much weight there is "
            "depends on who asks.",
        ),
    ),
    differentiable=True,
)


# --- causal linear attention ---------------------------------------------------------------------


def causal_linear(query_features, key_features, value):
    state = (key_features[:, :, None] * value[:, None, :]).cumsum(0)
    normaliser = key_features.cumsum(0)
    total = (query_features[:, :, None] * state).sum(1)
    return total / (query_features * normaliser).sum(1, keepdim=True)


def _causal_inputs(size, generator):
    n_tokens, n_features = 2 * size - 3, size + 1
    return (
        _positive(generator, n_tokens, n_features),
        _positive(generator, n_tokens, n_features),
        torch.randn(n_tokens, size, generator=generator),
    )


def _by_similarity(change):
    """A wrong causal linear attention by its matrix of similarities."""

    def wrong(query_features, key_features, value):
        similarity = change(query_features @ key_features.T)
        return similarity / similarity.sum(-1, keepdim=True) @ value

    return wrong


CAUSAL = Exercise(
    "efficient.running_sums",
    causal_linear,
    _causal_inputs,
    (
        Misconception(
            "not causal",
            _by_similarity(lambda similarity: similarity),
            "Every token reads the sums of the whole sequence, the future included.",
        ),
        Misconception(
            "read before adding",
            _by_similarity(lambda similarity: similarity.tril(-1)),
            "A token reads the sums before it is added to them, so it does not see itself, and the first one "
            "divides nothing by nothing.",
        ),
        Misconception(
            "looks ahead instead of back",
            _by_similarity(lambda similarity: similarity.triu()),
            "The sums run backwards: a token sees itself and what follows.",
        ),
        Misconception(
            "normaliser of the whole sequence",
            lambda q, k, v: (q @ k.T).tril() @ v / (q @ k.sum(0))[:, None],
            "The state is causal but the normaliser is not: the first tokens come out too small, and by how much "
            "tells them about the future.",
        ),
        Misconception(
            "no normaliser",
            lambda q, k, v: (q @ k.T).tril() @ v,
            "Nothing is divided: the output grows with every token.",
        ),
        Misconception(
            "divided by the number of tokens so far",
            lambda q, k, v: (q @ k.T).tril() @ v / torch.arange(1, len(q) + 1)[:, None],
            "You divided by how many tokens there were. The weights sum to that only if every similarity is 1.",
        ),
        Misconception(
            "summed over the features",
            lambda q, k, v: (
                (q[:, :, None] * (k[:, :, None] * v[:, None, :]).cumsum(1)).sum(1)
                / (q * k.cumsum(1)).sum(1, keepdim=True)
            ),
            "The sums run over the features. They must run over the tokens.",
        ),
    ),
    differentiable=True,
)


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
    "efficient.features",
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
    "efficient.layout",
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
    "efficient.crossover",
    crossover,
    _crossover_inputs,
    (
        Misconception(
            "features for nothing",
            lambda n_heads, d, m: (4 * m * d + 2 * m) / (4 * d),
            "The features are not free: to make them for queries and keys takes as much as to use them.",
        ),
        Misconception(
            "features of the keys only",
            lambda n_heads, d, m: (6 * m * d + 2 * m) / (4 * d),
            "You made features for one side only. Queries and keys both need them.",
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

EXERCISES = (LINEAR, CAUSAL, FEATURES, LAYOUT, CROSSOVER)
