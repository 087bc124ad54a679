"""Exercises of the page "Do its weights show its reasons?"."""

import torch
from torch import nn

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal

# --- how often the largest weight misses the gold --------------------------------------------------


def alignment_error(weights, gold):
    words = gold.any(-1)
    hit = gold.gather(-1, weights.argmax(-1, keepdim=True))[..., 0]
    return 1 - hit[words].double().mean()


def _alignment_inputs(size, generator):
    shape = ((4, 1, 2)[size % 3], size + 2, size + 3)
    gold = torch.rand(shape, generator=generator) < 1.5 / shape[-1]
    gold[..., -1] |= ~gold.any(-1)
    gold[0, -2:] = gold[1:, -1:] = False  # padding
    weights = (normal(generator, *shape) + 1.5 * gold).softmax(-1)
    return weights, gold


ALIGNMENT = Exercise(
    "alignment.error",
    alignment_error,
    _alignment_inputs,
    (
        Misconception(
            "padding counts as missed",
            lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, keepdim=True)).double().mean(),
            "Rows without any gold were counted as misses. They are padding: leave them out.",
        ),
        Misconception(
            "share that hits",
            lambda weights, gold: 1 - alignment_error(weights, gold),
            "This is the share that hits; the error is the share that misses.",
        ),
        Misconception(
            "weight outside gold",
            lambda weights, gold: 1 - (weights * gold).sum(-1)[gold.any(-1)].double().mean(),
            "You summed the weight that falls outside the gold. That is a fair measure too, but here a row counts "
            "as right or wrong by its largest weight.",
        ),
        Misconception(
            "argmax over the target",
            lambda weights, gold: 1 - gold.gather(-2, weights.argmax(-2, keepdim=True)).double().mean(),
            "You took, for each source word, the target word that looks at it most. A row is a target word: its "
            "largest weight is along the last dimension.",
        ),
        Misconception(
            "half the weight",
            lambda weights, gold: 1 - ((weights * gold).sum(-1) > 0.5)[gold.any(-1)].double().mean(),
            "You asked for half of the weight. The largest weight of a row can be smaller than that.",
        ),
        Misconception(
            "all gold words",
            lambda weights, gold: 1 - ((weights > 1 / weights.size(-1)) == gold).all(-1)[gold.any(-1)].double().mean(),
            "You asked each row to find all its gold words and no others. One hit is enough.",
        ),
    ),
)


# --- one token of the memory exchanged -------------------------------------------------------------


def exchange(memory, other, place):
    mixed = memory.clone()
    mixed[:, place] = other[:, place]
    return mixed


def _exchange_inputs(size, generator):
    batch = size + 2  # more sentences than the places that are drawn, so that no index is out of range
    shape = (batch, size + 3, size + 1)
    # A parameter: whoever writes into it, and not into a copy, gets PyTorch's error.
    return nn.Parameter(normal(generator, *shape)), normal(generator, *shape), integer(0, size, generator)


def _sentence(memory, other, place):
    mixed = memory.clone()
    mixed[place] = other[place]
    return mixed


def _in_place(memory, other, place):
    memory[:, place] = other[:, place]
    return memory


def _feature(memory, other, place):
    mixed = memory.clone()
    mixed[..., place] = other[..., place]
    return mixed


def _only_this(memory, other, place):
    mixed = torch.zeros_like(memory)
    mixed[:, place] = other[:, place]
    return mixed


EXCHANGE = Exercise(
    "alignment.exchange",
    exchange,
    _exchange_inputs,
    (
        Misconception(
            "in place",
            _in_place,
            "You wrote into the memory itself. The next place would then be exchanged in a memory that has one "
            "exchanged already: change a copy.",
        ),
        Misconception(
            "a feature",
            _feature,
            "You exchanged one feature of every token. A place of the sentence is the second dimension of three.",
        ),
        Misconception(
            "all later places too",
            lambda memory, other, place: torch.cat([memory[:, :place], other[:, place:]], dim=1),
            "You exchanged this place and all behind it. Only one token is to change.",
        ),
        Misconception(
            "all the others",
            lambda memory, other, place: exchange(other, memory, place),
            "You kept this place and exchanged all the others: the two memories have changed their parts.",
        ),
        Misconception(
            "nothing else left",
            _only_this,
            "The other tokens are gone. They stay as they were, or you could not say that one token made the change.",
        ),
    ),
    given=_sentence,
)

EXERCISES = (ALIGNMENT, EXCHANGE)
