"""Compare an answer with a reference, and name the misconception behind a wrong one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import torch

from attention_course.exercises.judging.gradients import fault, gradients_of
from attention_course.exercises.judging.running import NoNumbers, plain_torch, run

SIZES = (2, 3, 4, 5, 6, 7)
SEED = 0
LENGTH = 1_500  # of a message: a screen
NOT_BEGUN = "Put your code in the place of the ..., in Colab or in Jupyter, and run the cell."
NOTHING_CAME = "Nothing to compare came back."
NOT_FIXED = "This still does what the given code does. Find what is wrong in it, and fix it."


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
            tell the misconceptions apart: no saturated softmax, no two dimensions of one size. Every
            argument varies with `size`, and a batch of one is among them.
        misconceptions: Wrong answers to recognise.
        given: Where the question is to fix code that is wrong, that code: whatever behaves like it on every
            input was not attempted yet.
        differentiable: Whether the answer belongs in a model: then its gradients must be the reference's, too.
        kept: The names of arguments, tensors, into which no answer may write. One of the misconceptions does, and
            whatever else writes into them gets its sentence.
    """

    id: str
    reference: Callable
    inputs: Callable[[int, torch.Generator], tuple]
    misconceptions: tuple[Misconception, ...]
    given: Callable | None = None
    differentiable: bool = False
    kept: tuple[str, ...] = ()

    @property
    def kept_places(self) -> tuple[int, ...]:
        """Where those arguments stand that no answer may write into."""
        names = list(inspect.signature(self.reference).parameters)
        return tuple(map(names.index, self.kept))


@dataclass(frozen=True)
class Verdict:
    """What `check` found.

    Attributes:
        exercise: The exercise's id.
        status: `"passed"`, `"not attempted"` or `"wrong"`.
        message: What to tell the learner.
        misconception: The name of the misconception recognised, or `None`. `"gradient"` where the numbers are right
            and no gradient, or another one, comes through.
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


def judge(exercise: Exercise, answer, seed: int = SEED) -> Verdict:
    """Run an answer and the reference on the same twelve inputs, smallest first.

    Numbers must agree in kind (boolean, integer, float), shape and value. Where the reference returns a plain Python
    number, an integer and a float of the same value are as good. Where an answer belongs in a model, its gradients
    must agree as well.

    Args:
        exercise: What was asked.
        answer: A function with the reference's arguments, or its value where there are none.
            `...`, given or returned, means that something is left to do, and so does `raise NotImplementedError`,
            or wrong code that was given and still behaves as it did.
        seed: Draws the inputs. Each must name every misconception.
    """
    inputs = draw(exercise, seed)
    if not callable(answer) and answer is not ... and inputs[0]:
        return no_function(exercise)
    got = run(answer if callable(answer) else lambda *arguments: answer, inputs, kept=exercise.kept_places)
    return verdict_on(exercise, inputs, got, lambda: gradients_of(answer, inputs))


@plain_torch()
def draw(exercise: Exercise, seed: int) -> list[tuple]:
    """The twelve inputs on which answers are judged, smallest first."""
    generator = torch.Generator().manual_seed(seed)
    return [exercise.inputs(size, generator) for size in SIZES for _ in range(2)]


def no_function(exercise: Exercise) -> Verdict:
    """What to say of an answer that is a value where a function was asked for."""
    return Verdict(exercise.id, "wrong", f'Give check the function itself: check("{exercise.id}", your_function).')


@plain_torch()
def verdict_on(exercise: Exercise, inputs: list[tuple], got: list, gradients: Callable[[], list]) -> Verdict:
    """Judge what an answer returned, wherever it was run.

    Args:
        exercise: What was asked.
        inputs: As drawn.
        got: The outcome for each of them, as `run` gives it.
        gradients: Gives the answer's gradients, as `gradients_of` does; asked for where the numbers are right.
    """
    expected = run(exercise.reference, inputs)
    if any(map(_unfinished, got)):
        return Verdict(exercise.id, "not attempted", NOT_BEGUN)
    wrong = [index for index in range(len(inputs)) if difference(got[index], expected[index])]
    if not wrong:
        broken = exercise.differentiable and fault(exercise.reference, gradients(), inputs)
        if broken:
            return Verdict(exercise.id, "wrong", broken, "gradient")
        return Verdict(exercise.id, "passed", f"Equal to the reference on {len(inputs)} random inputs.")
    if exercise.given and _same(got, run(exercise.given, inputs)):
        return Verdict(exercise.id, "not attempted", NOT_FIXED)
    for misconception in exercise.misconceptions:
        if _same(got, run(misconception.function, inputs, kept=exercise.kept_places)):
            return Verdict(exercise.id, "wrong", misconception.message, misconception.name)
    first = wrong[0]
    return Verdict(exercise.id, "wrong", _report(exercise, inputs[first], got[first], expected[first]))


@plain_torch()
def share_right(exercise: Exercise, inputs: list[tuple], got: list) -> float:
    """The share of its tests that a wrong answer passes: one for each input, and one of all gradients where they count.

    Args:
        exercise: What was asked.
        inputs: As drawn.
        got: The outcome for each of them.
    """
    right = [not difference(one, other) for one, other in zip(got, run(exercise.reference, inputs), strict=True)]
    return sum(right) / (len(right) + exercise.differentiable)


def _same(got: list, expected: list) -> bool:
    return not any(map(difference, got, expected))


def _unfinished(outcome) -> bool:
    if isinstance(outcome, tuple):
        return any(map(_unfinished, outcome))
    return outcome is ... or outcome == NoNumbers("NotImplementedError")  # PyTorch's own come with a message


def difference(got, expected) -> str:
    """In what two outcomes differ, in a sentence; nothing where they agree."""
    if any(isinstance(outcome, NoNumbers) for outcome in (got, expected)):
        return "" if isinstance(got, NoNumbers) and got == expected else NOTHING_CAME
    if isinstance(expected, tuple):
        if isinstance(got, torch.Tensor) and got.ndim and len(got) == len(expected) > 1:
            got = tuple(got)  # its rows can be unpacked
        count = len(got) if isinstance(got, tuple) else 1
        if count != len(expected) or not isinstance(got, tuple):
            return f"Number of results: expected {len(expected)}, got {count}."
        return next(filter(None, map(difference, got, expected)), "")
    if isinstance(got, tuple):
        if not _are_rows(got, expected):
            return f"Expected one result, got a tuple or list of {len(got)}."
        got = torch.stack(got)
    numbers = not isinstance(expected, torch.Tensor)
    got, expected = _tensor(got), _tensor(expected)
    kinds = {_kind(got), _kind(expected)}
    if got.numel() and len(kinds) > 1 and not (numbers and kinds == {"integer", "float"}):
        kind = _kind(expected)
        return f"Expected {'an' if kind[0] == 'i' else 'a'} {kind} tensor, got {str(got.dtype)[6:]}."
    if got.shape != expected.shape:
        return f"Expected shape {tuple(expected.shape)}, got {tuple(got.shape)}."
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if expected.is_floating_point() else {"rtol": 0, "atol": 0}
    apart = ~torch.isclose(got.double(), expected.double(), equal_nan=True, **tolerance)
    if not apart.any():
        return ""
    place = tuple(apart.nonzero()[0].tolist())
    where = f" at {list(place)}" if place else ""
    return f"Expected {expected[place].item():.8g}{where}, got {got[place].item():.8g}."


def _are_rows(items, expected):
    """Whether a list of tensors is a tensor's rows."""
    if not isinstance(expected, torch.Tensor) or expected.ndim == 0 or len(items) != len(expected):
        return False
    return all(isinstance(item, torch.Tensor) and item.shape == expected.shape[1:] for item in items)


def _tensor(number):
    """With all digits of a Python number."""
    return torch.as_tensor(number, dtype=torch.float64) if type(number) is float else torch.as_tensor(number)


def _kind(tensor):
    if tensor.dtype is torch.bool:
        return "boolean"
    return "float" if tensor.is_floating_point() else "complex" if tensor.is_complex() else "integer"


def _report(exercise: Exercise, arguments: tuple, got, expected) -> str:
    """The smallest input that shows the mistake, with what came and what was expected."""
    names = ["  " + name + " =" for name in inspect.signature(exercise.reference).parameters]
    values = [*arguments, expected, got]
    width = LENGTH // (2 * len(values))
    lines = [difference(got, expected) + " This input shows it:"]
    lines += [
        f"{name} {_show(value, width)}"
        for name, value in zip([*names, "  expected", "  got     "], values, strict=True)
    ]
    if isinstance(got, NoNumbers):
        lines += [f"           {_cut(line, width)}" for line in got.where]
    return _cut("\n".join(lines), LENGTH)


def _show(value, width: int) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_show(item, width // len(value)) for item in value)})" if value else "()"
    if isinstance(value, NoNumbers):
        return _cut(str(value), 2 * width)
    if inspect.isfunction(value):
        return "a function"
    if not isinstance(value, torch.Tensor):
        return _cut(repr(value), width)
    return f"{_cut(str(_rounded(value.tolist())), width)}, shape {tuple(value.shape)}"


def _rounded(numbers):
    if isinstance(numbers, list):
        return [_rounded(number) for number in numbers]
    return float(f"{numbers:.5g}") if isinstance(numbers, float) else numbers  # what differs, differs here too


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + " …"
