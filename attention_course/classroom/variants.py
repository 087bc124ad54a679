"""Exercises turned round, so that a published solution does not pass.

A variant says how the arguments come and how the result is to be returned. The reference, the code that was given and
every misconception are wrapped alike, so that each is told apart as before. No answer to a variant is stored: it is
composed while it is judged.
"""

import dataclasses
import inspect
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations

import torch

from attention_course.classroom.turns import TURNS, Turn
from attention_course.exercises import Exercise, Misconception, judge
from attention_course.exercises.checking import SEED, SIZES
from attention_course.exercises.running import run

PUBLISHED = "the lesson's own"  # the name of the misconception that a published solution is


@dataclass(frozen=True)
class Variant:
    """A way in which one exercise can be turned round.

    Attributes:
        name: Unique within the exercise.
        sentence: What is different, for the learner.
        turns: What is done, in this order.
    """

    name: str
    sentence: str
    turns: tuple[Turn, ...]


@cache
def variants(exercise: Exercise) -> dict[str, Variant]:
    """In which ways an exercise can be turned round, by name: by one turn, or by two of different kinds.

    A way is left out where a sentence for one of the misconceptions would no longer be true, or where the published
    solution would pass, or would get a sentence that was written for another mistake.
    """
    inputs = _inputs(exercise)
    outcome = run(exercise.reference, inputs)[0]
    about = " ".join(misconception.message for misconception in exercise.misconceptions)
    single = [turn for turn in TURNS if turn.fits(inputs[0], outcome) and not (turn.words and turn.words.search(about))]
    ways = [(turn,) for turn in single] + [pair for pair in combinations(single, 2) if pair[0].kind != pair[1].kind]
    candidates = {", ".join(turn.name for turn in way): way for way in ways}
    return {
        name: Variant(name, _sentence(exercise, way), way)
        for name, way in candidates.items()
        if judge(_turned(exercise, way), exercise.reference).misconception == PUBLISHED
    }


def varied(exercise: Exercise, name: str | None) -> Exercise:
    """The exercise turned round; the exercise itself for `None`.

    Raises:
        ValueError: If the exercise has no such variant.
    """
    if name is None:
        return exercise
    known = variants(exercise)
    if name not in known:
        raise ValueError(f"variant of {exercise.id} must be None or one of {sorted(known)}, got {name!r}")
    return _turned(exercise, known[name].turns)


def _inputs(exercise):
    generator = torch.Generator().manual_seed(SEED)
    return [exercise.inputs(size, generator) for size in SIZES]


def _turned(exercise, turns):
    """The exercise with all that it knows turned round, and with what the lesson itself asks for as a mistake."""
    turned = reduce(_turned_once, turns, exercise)
    published = Misconception(
        PUBLISHED,
        exercise.reference,
        f"This answers the question as the lesson asks it. Here it is turned round: {_sentence(exercise, turns)}",
    )
    return dataclasses.replace(turned, misconceptions=(*turned.misconceptions, published), untouched=exercise.given)


def _turned_once(exercise, turn):
    parameters = tuple(inspect.signature(exercise.reference).parameters.values())
    signature = inspect.Signature(turn.arguments(parameters))

    def wrapped(function):
        def turned(*arguments):
            outcome = function(*turn.arguments(arguments))
            if turn.whole or not isinstance(outcome, tuple):
                return turn.result(outcome)
            return tuple(map(turn.result, outcome))

        turned.__signature__ = signature
        return turned

    return dataclasses.replace(
        exercise,
        reference=wrapped(exercise.reference),
        inputs=lambda size, generator: turn.arguments(exercise.inputs(size, generator)),
        misconceptions=tuple(
            dataclasses.replace(misconception, function=wrapped(misconception.function))
            for misconception in exercise.misconceptions
        ),
        given=exercise.given and wrapped(exercise.given),
    )


def _sentence(exercise, turns):
    """What is different, with the names of the arguments that it concerns."""
    names = tuple(inspect.signature(exercise.reference).parameters)
    arguments = _inputs(exercise)[0]
    return " ".join(
        turn.sentence.format(
            turn.written([name for name, value in zip(names, arguments, strict=True) if turn.named(value)])
        )
        for turn in turns
    )
