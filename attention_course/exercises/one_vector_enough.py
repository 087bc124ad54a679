"""Exercises of the page "Where is one vector enough?"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- a bag, given with a mistake -------------------------------------------------------------


def given_sort(numbers, n_symbols):
    one_hot = F.one_hot(numbers, n_symbols)  # (n, n_symbols)
    bag = one_hot.amax(0)  # (n_symbols,)
    symbols = torch.arange(n_symbols)
    return symbols.repeat_interleave(bag)


def sort(numbers, n_symbols):
    return numbers.sort().values


def _sort_inputs(size, generator):
    numbers = torch.randint(size + 4, (size + 2,), generator=generator)
    numbers[-1] = numbers[0]  # each list has a number twice
    numbers[1] = (numbers[0] + 1) % (size + 4)  # and another number
    return numbers, size + 4


SORT = Exercise(
    "one_vector_enough.sort",
    sort,
    _sort_inputs,
    (
        Misconception(
            "sums each number's row",
            lambda numbers, n_symbols: torch.arange(n_symbols).repeat_interleave(F.one_hot(numbers, n_symbols).sum(1)),
            "The sum runs along the wrong dimension: each row has a single 1, so all you get is ones. Add the rows up.",
        ),
        Misconception(
            "returns the bag",
            lambda numbers, n_symbols: torch.bincount(numbers, minlength=n_symbols),
            "You returned the bag. It is right; read the numbers out of it.",
        ),
        Misconception(
            "as they came",
            lambda numbers, n_symbols: numbers,
            "You returned the list as it came. The bag does not know in which order that was: read it from its first "
            "place to its last.",
        ),
        Misconception(
            "largest first",
            lambda numbers, n_symbols: sort(numbers, n_symbols).flip(0),
            "The largest number comes first. It should be the smallest.",
        ),
        Misconception(
            "how often, without the numbers",
            lambda numbers, n_symbols: numbers.unique(return_counts=True)[1],
            "You returned how often each number occurs. The list itself is asked.",
        ),
    ),
    given=given_sort,
)


# --- how wrong is an alignment? ---------------------------------------------------------------


def alignment_error(weights, gold):
    hit = gold.gather(-1, weights.argmax(-1, keepdim=True))
    return 1 - hit.double().mean()


def _alignment_inputs(size, generator):
    shape = ((3, 1, 2)[size % 3], size + 2, size + 1)
    gold = torch.rand(shape, generator=generator) < 0.3
    gold[:, :, 0] |= ~gold.any(-1)  # each target token has a gold source token
    weights = (normal(generator, *shape) + 1.5 * gold).softmax(-1)
    return weights, gold


ALIGNMENT = Exercise(
    "one_vector_enough.alignment_error",
    alignment_error,
    _alignment_inputs,
    (
        Misconception(
            "accuracy, not error",
            lambda weights, gold: 1 - alignment_error(weights, gold),
            "This is the share of hits. The error is the share of misses.",
        ),
        Misconception(
            "argmax over the targets",
            lambda weights, gold: 1 - gold.gather(-2, weights.argmax(-2, keepdim=True)).double().mean(),
            "You took the largest weight of each column: which target looks most at a source token. "
            "Each target token's own choice is in its row.",
        ),
        Misconception(
            "mass instead of the largest weight",
            lambda weights, gold: 1 - (weights * gold).sum(-1).mean(),
            "You measured how much weight lies off the gold tokens. That is a good score too, but the "
            "exercise counts target tokens whose largest weight misses.",
        ),
        Misconception(
            "compares two argmaxes",
            lambda weights, gold: (weights.argmax(-1) != gold.int().argmax(-1)).double().mean(),
            "You compared with the first gold token only. Where a source symbol occurs twice, several "
            "are right: any of them counts as a hit.",
        ),
        Misconception(
            "whole sequences",
            lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, keepdim=True)).all(-2).double().mean(),
            "You counted a sequence as wrong when one of its tokens is. Count tokens.",
        ),
    ),
)

EXERCISES = (SORT, ALIGNMENT)
