"""Exercises of the page "Does its map point at the reason?", whose content is in `interpretability` now."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- how often the largest weight lies on gold -----------------------------------------------------


def hit_rate(weights, gold):
    return gold.gather(1, weights.argmax(1, keepdim=True)).float().mean()


def _pointing_inputs(size, generator):
    weights = torch.randn(2 * size, size + 3, generator=generator).softmax(-1)
    gold = torch.rand(weights.shape, generator=generator) < 0.4
    gold[:, 0] = True  # every sequence has a gold token
    gold[0], gold[1] = False, False
    gold[0, weights[0].argmax()] = True  # one hit
    gold[1, weights[1].argmin()] = True  # and one miss at least
    return weights, gold


HIT_RATE = Exercise(
    "pointing.hit_rate",
    hit_rate,
    _pointing_inputs,
    (
        Misconception(
            "share of the weight",
            lambda weights, gold: (weights * gold).sum(1).mean(),
            "This is the share of the weight on gold tokens, the other measure. A hit asks only where the largest "
            "weight is.",
        ),
        Misconception(
            "largest over the batch",
            lambda weights, gold: gold.gather(0, weights.argmax(0, keepdim=True)).float().mean(),
            "The largest weight was sought over the batch: for each token the sequence, instead of for each sequence "
            "the token.",
        ),
        Misconception(
            "index of the first gold token",
            lambda weights, gold: (weights.argmax(1) == gold.int().argmax(1)).float().mean(),
            "You compared with the first gold token only. A sequence may have several, and each of them is a hit.",
        ),
        Misconception(
            "counts hits",
            lambda weights, gold: gold.gather(1, weights.argmax(1, keepdim=True)).sum(),
            "This is the number of hits. A rate divides by the number of sequences.",
        ),
        Misconception(
            "per gold token",
            lambda weights, gold: gold.gather(1, weights.argmax(1, keepdim=True)).sum() / gold.sum(),
            "You divided by the number of gold tokens. There is one largest weight a sequence: divide by the "
            "sequences.",
        ),
        Misconception(
            "above average",
            lambda weights, gold: (gold & (weights > 1 / weights.size(1))).any(1).float().mean(),
            "Some gold token with more than its even share is not enough: it has to be the largest of all.",
        ),
    ),
)


# --- the pooling's weights, handed on to what was read ----------------------------------------------


def followed(pooling, read):
    return (pooling + (pooling[:, None] @ read).squeeze(1)) / 2


def _columns(pooling, read):
    return (pooling + (read @ pooling[:, :, None]).squeeze(2)) / 2


def _followed_inputs(size, generator):
    batch, n = 1 + size % 3, size + 1
    return normal(generator, batch, n).softmax(-1), normal(generator, batch, n, n).softmax(-1)


FOLLOWED = Exercise(
    "pointing.followed",
    followed,
    _followed_inputs,
    (
        Misconception(
            "traced",
            lambda pooling, read: (pooling[:, None] @ read).squeeze(1),
            "Everything was handed on to what was read, and nothing stays. One half stays with the token itself, for "
            "the residual path.",
        ),
        Misconception(
            "columns, and nothing stays",
            lambda pooling, read: (read @ pooling[:, :, None]).squeeze(2),
            "Two things are wrong now: the sum runs over the tokens that are read instead of those that read, and "
            "nothing stays with a token itself.",
        ),
        Misconception(
            "a sum",
            lambda pooling, read: pooling + (pooling[:, None] @ read).squeeze(1),
            "You added the two ways without halving them: the shares of a sequence now sum to 2.",
        ),
        Misconception(
            "a row for each token",
            lambda pooling, read: (pooling[:, :, None] * read + torch.diag_embed(pooling)) / 2,
            "This still says which token handed each share on: a row for each. Add up what each token receives.",
        ),
        Misconception(
            "element by element",
            lambda pooling, read: (pooling + pooling * read.diagonal(dim1=1, dim2=2)) / 2,
            "You kept only what each token read of itself. What it read of the others is handed on to them.",
        ),
        Misconception(
            "half of the reading twice",
            lambda pooling, read: (pooling[:, None] @ (read / 2)).squeeze(1),
            "You halved what was handed on, and the other half is gone: the shares of a sequence sum to 1/2.",
        ),
    ),
    given=_columns,
)

EXERCISES = (HIT_RATE, FOLLOWED)
