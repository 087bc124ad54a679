"""The ways in which an exercise can be turned round: what is done to its arguments, and what to its result."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import torch

# Where a learner is told about these words, a turn would make the sentence false.
AXES = re.compile(
    r"\b(dim\w*|ax[ei]s|rows?|columns?|transpose\w*|shapes?|last|first|second|third|next|before|behind)\b"
)
SIGNS = re.compile(r"\b(signs?|minus|negative\w*|positive|larger|smaller|largest|smallest|above|below|infinite|inf)\b")
SUMS = re.compile(r"\b(sums? to|adds? up to)\b")
COUNTS = re.compile(r"\b(half|twice|double\w*|factor|times|from [01]|one too many|one too few|one more|one less)\b")
MASKS = re.compile(r"\b(True|False|inver\w+|hidden|opposite)\b")
ARGUMENTS = re.compile(r"\barguments?\b")


def _listed(names):
    names = [f"`{name}`" for name in names]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@dataclass(frozen=True)
class Turn:
    """One way of turning an exercise round; each is its own inverse where it turns arguments.

    Attributes:
        name: As it stands in `check(..., variant=name)`.
        kind: What is turned: arguments, places or numbers. Two turns of one kind are not combined, since it would
            matter which comes first.
        sentence: What the learner is told; `{}` is the place of the arguments' names.
        fits: `fits(arguments, outcome)`: whether there is something to turn.
        words: A sentence for a misconception that matches would no longer be true.
        arguments: Turns the tuple of arguments.
        result: Turns a single number or tensor of the result; or, where `whole`, all that is returned.
        whole: Whether `result` takes the whole tuple.
        code: Turns an argument's name (`code(name, value)`), or the expression of a result.
        named: Which arguments the sentence names.
        written: How it puts their names.
    """

    name: str
    kind: str
    sentence: str
    fits: Callable[[tuple, object], bool]
    words: re.Pattern | None = None
    arguments: Callable[[tuple], tuple] = lambda arguments: arguments
    result: Callable = lambda outcome: outcome
    whole: bool = False
    code: Callable[..., str] = lambda text, value=None: text
    named: Callable[[object], bool] = lambda argument: False
    written: Callable[[list[str]], str] = _listed


def _results(outcome):
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _every(is_one):
    """Whether something holds of each result."""
    return lambda arguments, outcome: all(map(is_one, _results(outcome)))


def _some_argument(is_one):
    return lambda arguments, outcome: any(map(is_one, arguments)) and not any(map(callable, arguments))


def _is_float(value):
    return isinstance(value, float) or isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_whole(value):
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() and value.dtype is not torch.bool
    return isinstance(value, int) and not isinstance(value, bool)


def _is_boolean(value):
    return isinstance(value, bool) or isinstance(value, torch.Tensor) and value.dtype is torch.bool


def _is_matrix(value):
    return isinstance(value, torch.Tensor) and value.ndim > 1


def _is_matrix_of_floats(value):
    return _is_matrix(value) and value.is_floating_point()


def _is_row(value):
    return isinstance(value, torch.Tensor) and value.ndim > 0


def _exchanged(value):
    return value.transpose(-2, -1).contiguous() if _is_matrix(value) else value


def _opposite(value):
    if isinstance(value, bool):
        return not value
    return ~value if _is_boolean(value) else value


TURNS = (
    Turn(
        "arguments from the back",
        "arguments",
        "The arguments come in the opposite order: `({})`.",
        lambda arguments, outcome: len(arguments) > 1,
        ARGUMENTS,
        arguments=lambda arguments: arguments[::-1],
        named=lambda argument: True,
        written=lambda names: ", ".join(reversed(names)),
    ),
    Turn(
        "axes exchanged",
        "arguments",
        "The last two dimensions are exchanged in {}.",
        _some_argument(_is_matrix_of_floats),
        AXES,
        arguments=lambda arguments: tuple(
            _exchanged(argument) if _is_matrix_of_floats(argument) else argument for argument in arguments
        ),
        code=lambda text, value=None: f"{text}.transpose(-2, -1)",
        named=_is_matrix_of_floats,
    ),
    Turn(
        "masks inverted",
        "arguments",
        "True and False are exchanged in {}.",
        _some_argument(_is_boolean),
        MASKS,
        arguments=lambda arguments: tuple(map(_opposite, arguments)),
        code=lambda text, value=None: f"not {text}" if isinstance(value, bool) else f"~{text}",
        named=_is_boolean,
    ),
    Turn(
        "result exchanged",
        "places",
        "Return the result with its last two dimensions exchanged.",
        _every(_is_matrix),
        AXES,
        result=_exchanged,
        code=lambda text, value=None: f"{text}.transpose(-2, -1)",
    ),
    Turn(
        "result from the back",
        "places",
        "Return the result from the back along its last dimension: the last number comes first.",
        _every(_is_row),
        AXES,
        result=lambda value: value.flip(-1) if _is_row(value) else value,
        code=lambda text, value=None: f"{text}.flip(-1)",
    ),
    Turn(
        "results from the back",
        "places",
        "Return the results in the opposite order, the last one first.",
        lambda arguments, outcome: isinstance(outcome, tuple),
        ARGUMENTS,
        result=lambda outcome: outcome[::-1] if isinstance(outcome, tuple) else outcome,
        code=lambda text, value=None: f"{text}[::-1]",
        whole=True,
    ),
    Turn(
        "opposite result",
        "numbers",
        "Exchange True and False in the result.",
        _every(_is_boolean),
        MASKS,
        result=_opposite,
        code=lambda text, value=None: f"~torch.as_tensor({text})",
    ),
    Turn(
        "opposite sign",
        "numbers",
        "Return the result with the opposite sign: -x in the place of x.",
        _every(_is_float),
        SIGNS,
        result=lambda value: -value if _is_float(value) else value,
        code=lambda text, value=None: f"-{text}",
    ),
    Turn(
        "tenfold",
        "numbers",
        "Return ten times the result.",
        _every(lambda value: _is_float(value) or _is_whole(value)),
        SUMS,
        result=lambda value: 10 * value if _is_float(value) or _is_whole(value) else value,
        code=lambda text, value=None: f"10 * {text}",
    ),
    Turn(
        "one more",
        "numbers",
        "Return one more than the result: where it counts places, the first is then 1.",
        _every(_is_whole),
        COUNTS,
        result=lambda value: value + 1 if _is_whole(value) else value,
        code=lambda text, value=None: f"{text} + 1",
    ),
)
