"""Exercises of the page "Do its weights show its reasons?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- one token of the memory exchanged -------------------------------------------------------------


def exchange(memory, other, place):
    mixed = memory.clone()
    mixed[:, place] = other[:, place]
    return mixed


def _exchange_inputs(size, generator):
    batch = 1 if size == 4 else size + 2
    shape = (batch, size + 3, size + 1)
    # The given code takes the place for a sentence's number, and finds one.
    place = integer(0, min(size, batch - 1), generator)
    return normal(generator, *shape), normal(generator, *shape), place


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
    kept=("memory",),
)

EXERCISES = (EXCHANGE,)
