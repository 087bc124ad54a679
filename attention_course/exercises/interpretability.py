"""Exercises of the chapter "Does attention explain?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal
from attention_course.interpreting.comparison import share_found

# --- the share of the truth that is found --------------------------------------------------------


def _found_inputs(size, generator):
    batch, n = 1 + size % 3, size + 4
    # From one gold token to all but two, and not the same number in every row.
    count = torch.randint(1, n - 1, (batch, 1), generator=generator)
    gold = torch.rand(batch, n, generator=generator).argsort(1) < count
    return normal(generator, batch, n), gold


def _top(scores, count):
    return scores.argsort(1, descending=True).argsort(1) < count


FOUND = Exercise(
    "interpretability.found",
    share_found,
    _found_inputs,
    (
        Misconception(
            "always two",
            lambda scores, gold: (gold & _top(scores, 2)).sum(1) / 2,
            "You always take the two highest scores. Take as many as the row has gold tokens.",
        ),
        Misconception(
            "only the highest",
            lambda scores, gold: gold.gather(1, scores.argmax(1, keepdim=True)).squeeze(1).float(),
            "You look at the highest score alone. Where several tokens decide, several have to be found.",
        ),
        Misconception(
            "the lowest",
            lambda scores, gold: share_found(-scores, gold),
            "You take the lowest scores: `argsort` sorts upwards unless it is told otherwise.",
        ),
        Misconception(
            "over all tokens",
            lambda scores, gold: (gold & _top(scores, gold.sum(1, keepdim=True))).float().mean(1),
            "You divide by the number of all tokens. It is the share of the gold tokens.",
        ),
        Misconception(
            "agreement",
            lambda scores, gold: (gold == _top(scores, gold.sum(1, keepdim=True))).float().mean(1),
            "You count the tokens that were rightly left out, too. With many of them every method looks good.",
        ),
        Misconception(
            "one number for the batch",
            lambda scores, gold: share_found(scores, gold).mean(),
            "That is the mean over the examples. Return one share for each.",
        ),
        Misconception(
            "one argsort",
            lambda scores, gold: (
                (gold & (scores.argsort(1, descending=True) < gold.sum(1, keepdim=True))).sum(1) / gold.sum(1)
            ),
            "One `argsort` says which token has each rank. You need the rank of each token: sort the order once more.",
        ),
    ),
)


# --- hiding a token --------------------------------------------------------------------------------


def output_without(scores, values, token):
    scores = scores.clone()
    scores[:, :, token] = float("-inf")
    return scores.softmax(-1) @ values


def _zero_weight(scores, values, token):
    weights = scores.softmax(-1)
    weights[:, :, token] = 0
    return weights @ values


def _hide_inputs(size, generator):
    batch, n_queries, n_keys = 1 + size % 3, size, size + 2
    scores, values = normal(generator, batch, n_queries, n_keys), normal(generator, batch, n_keys, size + 1)
    # With fewer queries than keys, hiding a query instead of a key shows; the token is one that is both.
    return scores, values, size - 1


def _zero_score(scores, values, token):
    scores = scores.clone()
    scores[:, :, token] = 0
    return scores.softmax(-1) @ values


def _hide_query(scores, values, token):
    scores = scores.clone()
    scores[:, token] = float("-inf")
    return scores.softmax(-1).nan_to_num(0) @ values


def _renormalise_queries(scores, values, token):
    weights = scores.softmax(-1)
    weights[:, :, token] = 0
    return weights / weights.sum(1, keepdim=True).clamp_min(1e-9) @ values


def _softmax_again(scores, values, token):
    weights = scores.softmax(-1)
    weights[:, :, token] = float("-inf")
    return weights.softmax(-1) @ values


HIDE = Exercise(
    "interpretability.hide",
    output_without,
    _hide_inputs,
    (
        Misconception(
            "score 0",
            _zero_score,
            "You set the score to 0. A score of 0 is a score like any other, and the softmax gives it weight.",
        ),
        Misconception(
            "the query hidden",
            _hide_query,
            "You hid what the token asks for. Others still read it: hide it among the keys, the last dimension.",
        ),
        Misconception(
            "sums over queries",
            _renormalise_queries,
            "You divide by sums over the queries. Each query hands out its own weight, over the keys.",
        ),
        Misconception(
            "a softmax of weights",
            _softmax_again,
            "You take a softmax of weights. They come out of one already: hide the token before it, among the scores.",
        ),
    ),
    given=_zero_weight,
)


# --- integrated gradients --------------------------------------------------------------------------


def integrated_gradients(gradient, x, baseline, steps):
    return _along(gradient, x, baseline, [(step + 0.5) / steps for step in range(steps)])


def _along(gradient, x, baseline, shares):
    total = sum(gradient(baseline + share * (x - baseline)) for share in shares)
    return ((x - baseline) * total / len(shares)).sum(-1)


def _gradient(matrix):
    """Of the sum of squares of tanh(x @ matrix): neither constant nor linear."""

    def gradient(x):
        inner = (x @ matrix).tanh()
        return 2 * (inner * (1 - inner.square())) @ matrix.T

    return gradient


def _integrated_inputs(size, generator):
    n, d = size, size + 1
    x, baseline = normal(generator, n, d), normal(generator, n, d)
    return _gradient(normal(generator, d, d) / d**0.5), x, baseline, 2 + size % 3


def _shares(steps, shift):
    return [(step + shift) / steps for step in range(steps)]


INTEGRATED = Exercise(
    "interpretability.integrated",
    integrated_gradients,
    _integrated_inputs,
    (
        Misconception(
            "the starts",
            lambda gradient, x, baseline, steps: _along(gradient, x, baseline, _shares(steps, 0)),
            "You take the gradient at the start of each piece. Take its middle: the error is much smaller.",
        ),
        Misconception(
            "the ends",
            lambda gradient, x, baseline, steps: _along(gradient, x, baseline, _shares(steps, 1)),
            "You take the gradient at the end of each piece. Take its middle: the error is much smaller.",
        ),
        Misconception(
            "only at the input",
            lambda gradient, x, baseline, steps: _along(gradient, x, baseline, [1.0]),
            "You use the gradient at the input alone. Gather it along the whole way from the baseline.",
        ),
        Misconception(
            "times the input",
            lambda gradient, x, baseline, steps: (
                x * sum(gradient(baseline + share * (x - baseline)) for share in _shares(steps, 0.5)) / steps
            ).sum(-1),
            "You multiply by x. What was gone is the way from the baseline to x.",
        ),
        Misconception(
            "from zero",
            lambda gradient, x, baseline, steps: integrated_gradients(gradient, x, torch.zeros_like(x), steps),
            "Your way starts at zero. It starts at the baseline.",
        ),
        Misconception(
            "a sum",
            lambda gradient, x, baseline, steps: steps * integrated_gradients(gradient, x, baseline, steps),
            "You add the gradients up. Each stands for a piece of the way, one of `steps`: take their mean.",
        ),
        Misconception(
            "gradients alone",
            lambda gradient, x, baseline, steps: (
                sum(gradient(baseline + share * (x - baseline)) for share in _shares(steps, 0.5)) / steps
            ).sum(-1),
            "You return the mean gradient. How far each number went is not in it yet.",
        ),
        Misconception(
            "from the input",
            lambda gradient, x, baseline, steps: integrated_gradients(gradient, baseline, x, steps),
            "You went from the input to the baseline, and every sign is turned over.",
        ),
        Misconception(
            "one score a number",
            lambda gradient, x, baseline, steps: (
                (x - baseline)
                * sum(gradient(baseline + share * (x - baseline)) for share in _shares(steps, 0.5))
                / steps
            ),
            "That is a score for each number of each token. Add up a token's numbers.",
        ),
    ),
)

EXERCISES = (FOUND, HIDE, INTEGRATED)
