"""Exercises of the page "Which number to fill in"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import lengths_up_to, normal

# --- softmax under a mask -----------------------------------------------------------------------


def softmax_under_mask(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def _softmax_inputs(size, generator):
    scores = normal(generator, size + 1, size + 1)
    mask = torch.rand(scores.shape, generator=generator) < 0.6
    mask[0] = torch.arange(size + 1) == 1
    scores[0, 0] = 200.0  # forbidden, and so high that its exponential dwarfs the others
    mask[1, :2] = True
    scores[1] += (150.0, -150.0)[size % 2]  # exponentials of all of them are infinite, or all 0
    mask[-1] = False
    return scores, mask


def _renormalised(scores, mask):
    kept = scores.softmax(-1) * mask
    return kept / kept.sum(-1, keepdim=True)


SOFTMAX = Exercise(
    "mask_numbers.softmax",
    softmax_under_mask,
    _softmax_inputs,
    (
        Misconception(
            "NaN where nothing is allowed",
            lambda scores, mask: scores.masked_fill(~mask, float("-inf")).softmax(-1),
            "Right for every row that may attend to something. A row that may attend to nothing is NaN: it should be "
            "zeros.",
        ),
        Misconception(
            "uniform where nothing is allowed",
            lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1),
            "A row that may attend to nothing has the same low score everywhere: it attends to every forbidden key "
            "alike.",
        ),
        Misconception(
            "after the softmax",
            lambda scores, mask: scores.softmax(-1) * mask,
            "You masked after the softmax. Forbidden keys are still in the denominator, so rows sum to less than 1, "
            "and by how much less depends on keys that must not matter.",
        ),
        Misconception(
            "after the softmax, renormalised",
            _renormalised,
            "Masking after the softmax and dividing by the sum is right on paper. Where a forbidden score is high, the "
            "allowed weights have already been rounded to 0, and 0 / 0 is left.",
        ),
        Misconception(
            "scores times mask",
            lambda scores, mask: (scores * mask).softmax(-1),
            "You multiplied scores with the mask. A score of 0 is an ordinary score: its exponential is 1, not 0.",
        ),
        Misconception(
            "inverted",
            lambda scores, mask: softmax_under_mask(scores, ~mask),
            "You kept what is forbidden: True means may attend.",
        ),
    ),
    differentiable=True,
)


# --- padding in front ---------------------------------------------------------------------------


def front_padding(lengths, n_tokens):
    place = torch.arange(n_tokens)
    real = place >= n_tokens - lengths[:, None]  # (batch, n_keys)
    return (place[:, None] >= place) & real[:, None, :]


def _front_inputs(size, generator):
    n_tokens = size + 2
    return lengths_up_to(n_tokens, size - 1, generator), n_tokens


def _causal(n_tokens):
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril()


def _behind(lengths, n_tokens):
    return torch.arange(n_tokens) < lengths[:, None]


FRONT = Exercise(
    "mask_numbers.front",
    front_padding,
    _front_inputs,
    (
        Misconception(
            "inverted",
            lambda lengths, n_tokens: ~front_padding(lengths, n_tokens),
            "You marked what is hidden. Here, as in scaled_dot_product_attention, True means may attend.",
        ),
        Misconception(
            "padding behind",
            lambda lengths, n_tokens: _causal(n_tokens) & _behind(lengths, n_tokens)[:, None, :],
            "You took the padding to stand behind each text. Here it stands in front.",
        ),
        Misconception(
            "one pad too many",
            lambda lengths, n_tokens: front_padding((lengths + 1).clamp(max=n_tokens), n_tokens),
            "One pad of each shorter text is visible: places count from 0, so three tokens of seven begin at place 4.",
        ),
        Misconception(
            "one token too few",
            lambda lengths, n_tokens: front_padding(lengths - 1, n_tokens),
            "The first token of each text is hidden: places count from 0, so three tokens of seven begin at place 4.",
        ),
        Misconception(
            "masks queries",
            lambda lengths, n_tokens: _causal(n_tokens) & front_padding(lengths, n_tokens)[:, -1, :, None],
            "You masked the rows of the pads, and not their columns: words can still attend to pads.",
        ),
        Misconception(
            "rows of pads repaired",
            lambda lengths, n_tokens: front_padding(lengths, n_tokens) | torch.eye(n_tokens, dtype=torch.bool),
            "You let every pad see itself, so that no row is empty. Asked for is the plain mask: what a query gets "
            "that may see nothing is decided in the softmax.",
        ),
        Misconception(
            "not causal",
            lambda lengths, n_tokens: front_padding(lengths, n_tokens)[:, -1:].expand(-1, n_tokens, -1),
            "The padding is hidden, but words see the words behind them. & joins two masks.",
        ),
        Misconception(
            "padding alone",
            lambda lengths, n_tokens: front_padding(lengths, n_tokens)[:, -1],
            "That is the padding mask, (batch, n_keys). Join it with the causal one: (batch, n_queries, n_keys).",
        ),
        Misconception(
            "or for and",
            lambda lengths, n_tokens: _causal(n_tokens) | front_padding(lengths, n_tokens)[:, -1, None, :],
            "With | it is enough that one of the two masks allows a key. Both must.",
        ),
    ),
)

EXERCISES = (SOFTMAX, FRONT)
