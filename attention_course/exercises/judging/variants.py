"""Exercises turned round, so that a published solution does not pass.

A variant says how the arguments come and how the result is to be returned. The reference, the code that was given and
every misconception are wrapped alike, so that each is told apart as before. No answer to a variant is stored: it is
composed while it is judged.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations

import torch

from attention_course.exercises import Exercise, Verdict, judge
from attention_course.exercises.judging.checking import NOTHING_CAME, SEED, SIZES
from attention_course.exercises.judging.running import plain_torch, run
from attention_course.exercises.judging.transforms import TURNS, Turn

# Names of misconceptions: what a published solution is, and what is right but for a result that is not turned.
PUBLISHED = "the lesson's own"
MISSED = "a turn missed"
RIGHT_BUT = {
    PUBLISHED: "This answers the question as the lesson asks it.",
    MISSED: "This is right but for one thing.",
}


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
    published = {way: judge(_turned(exercise, way), exercise.reference) for way in ways}
    good = {way for way, verdict in published.items() if (verdict.status, verdict.misconception) == ("wrong", None)}
    found = [
        Variant(", ".join(turn.name for turn in way), sentence(exercise, way), way)
        for way in ways
        if way in good and all((turn,) in good for turn in way)  # somebody may miss one of two
    ]
    return {variant.name: variant for variant in found}


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


def judge_variant(exercise: Exercise, name: str | None, judged: Callable[[Exercise], Verdict]) -> Verdict:
    """The verdict on an answer to a variant; to the exercise itself for `None`.

    An answer that fails is judged as the lesson asks, too, since two answers that end in the same exception need not
    be the same; and as the handed-out stub asks, which shows the order of the arguments and not what else is turned.

    Args:
        exercise: As the lesson has it.
        name: Of the variant.
        judged: Gives the verdict on the answer, taken as an answer to this exercise.
    """
    verdict = judged(varied(exercise, name))
    if name is None or verdict.status != "wrong" or verdict.misconception:
        return verdict
    turns = variants(exercise)[name].turns
    names = _names(exercise)
    shown = tuple(turn for turn in turns if turn.arguments(names) != names)
    readings = [(done, judged(_turned(exercise, done))) for done in dict.fromkeys([shown, ()]) if done != turns]
    for done, read in sorted(readings, key=lambda reading: not reading[1].passed):
        missed = sentence(exercise, tuple(turn for turn in turns if turn not in done))
        if told := _told_where_missed(missed, read, partly=bool(done)):
            return told
    if verdict.message.startswith(NOTHING_CAME):
        reminder = f"The exercise is turned round here: {sentence(exercise, turns)}"
        return dataclasses.replace(verdict, message=f"{reminder} {verdict.message}")
    return verdict


def _told_where_missed(missed, verdict, partly):
    """What helps somebody who gets this verdict where what is `missed` is not asked; `None` where it says nothing."""
    if verdict.passed:
        name = MISSED if partly else PUBLISHED
        return Verdict(verdict.exercise, "wrong", f"{RIGHT_BUT[name]} Here it is turned round: {missed}", name)
    if verdict.misconception:
        message = f"You missed what is turned round here: {missed} And also: {verdict.message}"
        return dataclasses.replace(verdict, message=message)
    return verdict if verdict.status == "not attempted" else None


def taken(exercise: Exercise, turns: tuple[Turn, ...]) -> tuple[str, ...]:
    """The names of the arguments in the order in which they come."""
    return reduce(lambda names, turn: turn.arguments(names), turns, _names(exercise))


def turns_of(name: str) -> tuple[Turn, ...]:
    """What is done in a variant of this name; to try all that an exercise has takes seconds."""
    known = {turn.name: turn for turn in TURNS}
    return tuple(known[one] for one in name.split(", "))


def turned_solution(exercise: Exercise, name: str, solution: str) -> str:
    """Code that passes as a variant: a function that calls the published solution by its name.

    Args:
        exercise: As the lesson has it.
        name: Of the variant.
        solution: The name of the published solution.
    """
    turns, inputs = turns_of(name), _inputs(exercise)
    arguments = [
        reduce(lambda text, turn, value=value: turn.code(text, value) if turn.named(value) else text, turns, argument)
        for argument, value in zip(_names(exercise), inputs[0], strict=True)
    ]
    several = isinstance(run(exercise.reference, inputs[:1])[0], tuple)
    result = f"{solution}({', '.join(arguments)})"
    for turn in turns:
        if turn.kind != "arguments":
            each = several and not turn.whole
            result = f"tuple({turn.code('one')} for one in {result})" if each else turn.code(result)
    return f"def turned({', '.join(taken(exercise, turns))}):\n    return {result}\n"


def _names(exercise):
    return tuple(inspect.signature(exercise.reference).parameters)


@plain_torch()
def _inputs(exercise):
    generator = torch.Generator().manual_seed(SEED)
    return [exercise.inputs(size, generator) for size in SIZES]


def _turned(exercise, turns):
    """The exercise with all that it knows turned round."""
    return reduce(_turned_once, turns, exercise)


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


def sentence(exercise: Exercise, turns: tuple[Turn, ...]) -> str:
    """What is different, with the names of the arguments that it concerns."""
    inputs = _inputs(exercise)
    told = " ".join(
        turn.sentence.format(
            turn.written([name for name, value in zip(_names(exercise), inputs[0], strict=True) if turn.named(value)])
        )
        for turn in turns
    )
    several = isinstance(run(exercise.reference, inputs[:1])[0], tuple)
    return re.sub(r"\bthe result\b", "each of the results", told) if several else told
