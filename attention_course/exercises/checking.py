"""Compare an answer with a reference, and name the misconception behind a wrong one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import torch

SIZES = (2, 3, 4, 5, 6)
SEED = 0


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that learners really give.

    Attributes:
        name: A few words, unique within the exercise.
        function: Does what that learner's code does; it may raise.
        message: The sentence that would help them. It must not give the solution away.
    """

    name: str
    function: Callable
    message: str


@dataclass(frozen=True)
class Exercise:
    """A question whose answers can be run.

    Attributes:
        id: `"chapter.exercise"`.
        reference: A right answer.
        inputs: `inputs(size, generator)` draws arguments for it, larger with `size`. They must
            tell the misconceptions apart: no saturated softmax, no two dimensions of one size.
        misconceptions: Wrong answers to recognise.
    """

    id: str
    reference: Callable
    inputs: Callable[[int, torch.Generator], tuple]
    misconceptions: tuple[Misconception, ...]


@dataclass(frozen=True)
class Verdict:
    """What `check` found.

    Attributes:
        exercise: The exercise's id.
        status: `"passed"`, `"not attempted"` or `"wrong"`.
        message: What to tell the learner.
        misconception: The name of the misconception recognised, or `None`.
    """

    exercise: str
    status: str
    message: str
    misconception: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer was right on every input."""
        return self.status == "passed"

    def __repr__(self) -> str:
        return f"{self.exercise}: {self.status}. {self.message}".rstrip()


def judge(exercise: Exercise, answer) -> Verdict:
    """Run an answer and the reference on the same inputs, smallest first.

    Args:
        exercise: What was asked.
        answer: A function with the reference's arguments, or its value where there are none.
            `...`, returned or given, means that nothing was tried yet.
    """
    function = answer if callable(answer) else lambda: answer
    generator = torch.Generator().manual_seed(SEED)
    inputs = [exercise.inputs(size, generator) for size in SIZES for _ in range(2)]
    got = [_outcome(function, arguments) for arguments in inputs]
    if got[0] is ... or isinstance(got[0], NotImplementedError):
        return Verdict(exercise.id, "not attempted", "Replace the ... and run the cell again.")
    expected = [_outcome(exercise.reference, arguments) for arguments in inputs]
    wrong = [index for index in range(len(inputs)) if not _same(got[index], expected[index])]
    if not wrong:
        return Verdict(exercise.id, "passed", f"Equal to the reference on {len(inputs)} random inputs.")
    for misconception in exercise.misconceptions:
        behaviour = (_outcome(misconception.function, arguments) for arguments in inputs)
        if all(_same(mine, theirs) for mine, theirs in zip(got, behaviour, strict=True)):
            return Verdict(exercise.id, "wrong", misconception.message, misconception.name)
    first = wrong[0]
    return Verdict(exercise.id, "wrong", _difference(exercise, inputs[first], got[first], expected[first]))


def _outcome(function: Callable, arguments: tuple):
    """What the function returns, or the exception it raises. It may change its arguments: they are copies."""
    try:
        return function(*[_copy(argument) for argument in arguments])
    except Exception as error:  # a learner's code may raise anything
        return error


def _copy(argument):
    return argument.clone() if isinstance(argument, torch.Tensor) else argument


def _same(one, other) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_same, one, other))
    try:
        one, other = torch.as_tensor(one), torch.as_tensor(other)
    except (TypeError, ValueError, RuntimeError):  # not a number, nor an array of numbers
        return False
    return one.shape == other.shape and torch.allclose(
        one.double(), other.double(), rtol=1e-4, atol=1e-5, equal_nan=True
    )


def _difference(exercise: Exercise, arguments: tuple, got, expected) -> str:
    """The smallest input that shows the mistake, with what came and what was expected."""
    names = inspect.signature(exercise.reference).parameters
    lines = ["This input shows the difference:"]
    lines += [f"  {name} = {_show(argument)}" for name, argument in zip(names, arguments, strict=False)]
    lines += [f"  expected {_show(expected)}", f"  got      {_show(got)}"]
    return "\n".join(lines)


def _show(value) -> str:
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    if not isinstance(value, torch.Tensor):
        return repr(value)
    numbers = torch.round(value.detach().double(), decimals=3).tolist() if value.is_floating_point() else value.tolist()
    return f"{numbers}, shape {tuple(value.shape)}"
