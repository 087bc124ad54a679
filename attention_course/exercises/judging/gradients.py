"""Whether a gradient comes through an answer: what belongs in a model has to let the layers before it learn."""

import inspect
import warnings
from collections.abc import Callable

import torch

from attention_course.exercises.judging.running import NoNumbers, run

TOLERANCE = 1e-3  # of an argument's largest gradient; rounding moves a gradient by some 1e-6 of it
CUT_OFF = (
    "The numbers are right, but no gradient reaches {}: .detach(), .item(), torch.no_grad() or NumPy cuts it off. In a "
    "model, the layers before would not learn."
)
PARTLY = (
    "The numbers are right, but the gradient that reaches {} is not: perhaps it is cut off on one of the ways to the "
    "result, by .detach(), .item() or NumPy for example."
)
NOT_FINITE = (
    "The numbers are right, but the gradient that reaches {} is not finite. A number that was infinite or NaN, and was "
    "covered up afterwards, is still met on the way back."
)
IN_PLACE = (
    "The numbers are right, but a tensor that the way back still needs was changed in place, by `rows[i] = ...`, "
    "`+=` or `mul_()` for example. Make a new one, or collect the rows in a list."
)
RAISES = "The numbers are right, but for tensors that require a gradient there is {}."


def fault(reference: Callable, got: list, inputs: list[tuple]) -> str:
    """What is wrong with the gradients of an answer whose numbers are right, in a sentence; nothing where they agree.

    Args:
        reference: Differentiable in each of its arguments that is a tensor of floats.
        got: The gradients of an answer whose results equal the reference's, as `gradients_of` gives them.
        inputs: The arguments for both.
    """
    parameters = inspect.signature(reference).parameters
    names = [name for name, argument in zip(parameters, inputs[0], strict=True) if _is_float(argument)]
    expected = gradients_of(reference, inputs)
    raised = next((outcome for outcome in got if isinstance(outcome, NoNumbers)), None)
    if raised:
        if "numpy" in raised.text.lower():
            return CUT_OFF.format(", ".join(names))
        return IN_PLACE if "inplace operation" in raised.text else RAISES.format(str(raised).rstrip("."))
    pairs = [(_joined(got, index), _joined(expected, index)) for index in range(len(names))]
    for sentence, is_so in ((CUT_OFF, _missing), (NOT_FINITE, _not_finite), (PARTLY, _differs)):
        found = [name for name, pair in zip(names, pairs, strict=True) if is_so(*pair)]
        if found:
            return sentence.format(", ".join(found))
    return ""


def gradients_of(function: Callable, inputs: list[tuple], *, processor: bool = False) -> list:
    """For each input the gradients of one sum of all that a function returns, or `NoNumbers`; timed as by `run`."""
    return run(_gradients(function), inputs, processor=processor)


def _joined(outcomes, index):
    """The gradients of one argument, for all inputs: where it has no say, a single input gives rounding alone."""
    return torch.cat([gradients[index].flatten() for gradients in outcomes])


def _is_float(argument):
    return isinstance(argument, torch.Tensor) and argument.is_floating_point()


def _missing(got, expected):
    return bool(expected.any() and not got.any())


def _not_finite(got, expected):
    return not got.isfinite().all()


def _differs(got, expected):
    return bool((got - expected).abs().max() > TOLERANCE * expected.abs().max())


def _gradients(function):
    """The gradients of one sum of all that `function` returns, with respect to each argument that holds floats."""

    def gradients(*arguments):
        leaves = [argument.requires_grad_() for argument in arguments if _is_float(argument)]
        # Copies, for an answer may write into its arguments, and into a leaf it may not.
        copies = [argument.clone() if _is_float(argument) else argument for argument in arguments]
        with torch.enable_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of float(x): here a sentence does
            numbers = _flat(function(*copies))
            total = numbers @ torch.arange(1.0, 1 + len(numbers), dtype=numbers.dtype).sin()
        if not total.requires_grad:
            return tuple(map(torch.zeros_like, leaves))
        return torch.autograd.grad(total, leaves, materialize_grads=True)

    return gradients


def _flat(outcome):
    """All numbers of an outcome in one vector, in whichever containers they are."""
    if isinstance(outcome, (tuple, list)):
        return torch.cat(list(map(_flat, outcome)))
    return torch.as_tensor(outcome).flatten().double().cpu()
