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


# --- the additive score -------------------------------------------------------------------


def additive_scores(query, keys, W_q, W_k, v):
    return torch.tanh(W_q @ query + keys @ W_k.T) @ v


def _additive_inputs(size, generator):
    d_query, d_key, d_hidden = size + 1, size + 2, size + 3
    return (
        normal(generator, d_query),
        normal(generator, size - 1, d_key),
        normal(generator, d_hidden, d_query) / d_query**0.5,
        normal(generator, d_hidden, d_key) / d_key**0.5,
        normal(generator, d_hidden),
    )


ADDITIVE = Exercise(
    "scores.additive_scores",
    additive_scores,
    _additive_inputs,
    (
        Misconception(
            "no tanh",
            lambda query, keys, W_q, W_k, v: (W_q @ query + keys @ W_k.T) @ v,
            "There is no tanh. Without it the query adds the same number to every score, the softmax "
            "removes it, and the weights do not depend on the query at all.",
        ),
        Misconception(
            "tanh of the score",
            lambda query, keys, W_q, W_k, v: torch.tanh((W_q @ query + keys @ W_k.T) @ v),
            "The tanh came last, after v. It belongs to the hidden layer: between the sum of the two "
            "projections and v.",
        ),
        Misconception(
            "ignores the query",
            lambda query, keys, W_q, W_k, v: torch.tanh(keys @ W_k.T) @ v,
            "Your scores do not change with the query, so every decoder step would look at the same place.",
        ),
        Misconception(
            "sums instead of v",
            lambda query, keys, W_q, W_k, v: torch.tanh(W_q @ query + keys @ W_k.T).sum(-1),
            "You added the hidden units up with equal votes. The learned vector v weighs them.",
        ),
        Misconception(
            "product of two tanhs",
            lambda query, keys, W_q, W_k, v: (torch.tanh(W_q @ query) * torch.tanh(keys @ W_k.T)) @ v,
            "Now query and key interact, but by a product. The additive score adds them, inside one tanh.",
        ),
        Misconception(
            "already weights",
            lambda query, keys, W_q, W_k, v: additive_scores(query, keys, W_q, W_k, v).softmax(0),
            "These are the weights. The exercise asks for the scores, before the softmax.",
        ),
    ),
    # What the page prints: whatever the query, the softmax of these scores is the same.
    given=lambda query, keys, W_q, W_k, v: (torch.tanh(W_q @ query) + torch.tanh(keys @ W_k.T)) @ v,
    differentiable=True,
)


# --- dropout on the weights ---------------------------------------------------------------------


def drop_weights(weights, keep, p, value):
    return (weights * keep / (1 - p)) @ value, weights


def _dropout_inputs(size, generator):
    p = 0.1 + 0.3 * torch.rand((), generator=generator).item()
    weights = normal(generator, size, size + 2).softmax(-1)
    keep = torch.rand(weights.shape, generator=generator) >= p
    keep[:, 0] = True  # at least one survivor a row
    keep[:, 1] = False
    return weights, keep, p, normal(generator, size + 2, size + 3)


def _with_survivors(make_survivors):
    """A wrong dropout that blends the values with other survivors."""
    return lambda weights, keep, p, value: (make_survivors(weights, keep, p) @ value, weights)


def _renormalised(weights, keep):
    survivors = weights * keep
    return survivors / survivors.sum(-1, keepdim=True)


DROPOUT = Exercise(
    "scores.dropout",
    drop_weights,
    _dropout_inputs,
    (
        Misconception(
            "no rescaling",
            _with_survivors(lambda weights, keep, p: weights * keep),
            "Survivors keep their size, so the output shrinks by 1 - p on average, in training only. "
            "What must survivors be multiplied by to keep the mean?",
        ),
        Misconception(
            "rows made to sum to 1",
            _with_survivors(lambda weights, keep, p: _renormalised(weights, keep)),
            "You made each row sum to 1 again. Dropout does not: it keeps the mean over many draws, and a "
            "single row's sum varies.",
        ),
        Misconception(
            "divides by p",
            _with_survivors(lambda weights, keep, p: weights * keep / p),
            "You divided by p, the probability of being dropped. Divide by the probability of surviving.",
        ),
        Misconception(
            "multiplies by 1 - p",
            _with_survivors(lambda weights, keep, p: weights * keep * (1 - p)),
            "You shrank the survivors. They are too few already: they must grow.",
        ),
        Misconception(
            "keep inverted",
            _with_survivors(lambda weights, keep, p: weights * ~keep / (1 - p)),
            "You kept what should be dropped: keep is True for survivors.",
        ),
        Misconception(
            "returns the dropped weights",
            lambda weights, keep, p, value: (drop_weights(weights, keep, p, value)[0], weights * keep / (1 - p)),
            "The output is right. But you returned the weights after dropout: they change from call to call, and their "
            "rows do not sum to 1. What does the course's own function return?",
        ),
        Misconception(
            "no rescaling, and returned",
            lambda weights, keep, p, value: ((weights * keep) @ value, weights * keep),
            "Two things: survivors must grow to keep the mean, and the weights that are returned are those before "
            "dropout.",
        ),
        Misconception(
            "rows made to sum to 1, and returned",
            lambda weights, keep, p, value: (_renormalised(weights, keep) @ value, _renormalised(weights, keep)),
            "Two things: dropout does not make each row sum to 1 again, it divides by 1 - p; and the weights that are "
            "returned are those before dropout.",
        ),
        Misconception(
            "no dropout",
            lambda weights, keep, p, value: (weights @ value, weights),
            "The values were blended with the weights from before dropout, so nothing was dropped.",
        ),
        Misconception(
            "weights first",
            lambda weights, keep, p, value: drop_weights(weights, keep, p, value)[::-1],
            "Output and weights are the wrong way round: every attention of the course returns (output, weights).",
        ),
    ),
    differentiable=True,
)

EXERCISES = (ADDITIVE, GENERAL, COST, DROPOUT)
