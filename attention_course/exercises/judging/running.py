"""Run somebody's function so that whatever it does is a result: an endless loop, `sys.exit()`, an odd tensor.

It runs in the reader's own kernel, since it may use whatever their cells have defined, and a new process would take
seconds to import PyTorch for each check. So the time is limited from within: an alarm raises `TooSlow` inside the
function. A bare `except` in a loop would swallow each alarm, and a debugger's hook (`sys.settrace`) then raises it once
more in the first line of that `except`, which no longer stands in the `try`.
"""

import copy
import linecache
import math
import reprlib
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch

SECONDS = 5  # for all inputs together
LATE = "no result after"
LARGEST = 10_000  # numbers in a result: no exercise has so many, and twelve huge ones would fill the memory


class TooSlow(BaseException):
    """Raised in the function when its time is over. Not an `Exception`, which a learner's code may well catch."""


class Interrupted(KeyboardInterrupt):
    """The reader pressed Ctrl-C; a function that raises `KeyboardInterrupt` by itself does not stop its check."""


@dataclass(frozen=True)
class NoNumbers:
    """What came instead of numbers, in words.

    Attributes:
        text: The exception with its message, or the object.
        where: The lines of the learner's code that were running. Two outcomes may be equal without.
        told: What to show of the text, where that is not all of it.
    """

    text: str
    where: tuple[str, ...] = field(default=(), compare=False)
    told: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text if self.told is None else self.told


WRITTEN = NoNumbers("an argument that had to stay as it was has been written into")


def run(
    function: Callable,
    inputs: list[tuple],
    seconds: float = SECONDS,
    *,
    kept: tuple[int, ...] = (),
    processor: bool = False,
) -> list:
    """The outcome of a function for each of several inputs, which it cannot change: they are copies.

    An outcome is a tensor, a Python number, a tuple of outcomes, `...`, or `NoNumbers`. After `seconds` in all nothing
    is run any more. That takes a signal, so there is no limit on Windows and none outside the main thread.

    Args:
        function: What to run.
        inputs: Its arguments, several times.
        seconds: For all inputs together.
        kept: The places of arguments, tensors, into which it must not write: where it does, the outcome is `WRITTEN`.
        processor: Count the processor's seconds, and not the clock's, which pass faster where much else runs.
    """
    outcomes = []
    try:
        with plain_torch(), _signals(seconds, processor):
            for arguments in inputs:
                outcomes.append(_outcome(function, arguments, kept))
    except Interrupted:
        raise KeyboardInterrupt from None
    except TooSlow as error:
        stopped = NoNumbers(f"{LATE} {seconds:g} seconds", _own_lines(error, function))
        outcomes += [stopped] * (len(inputs) - len(outcomes))
    return outcomes


@contextmanager
def plain_torch():
    """As torch is at first, whatever is switched on around it: gradients off, another dtype, or a GPU."""
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        default = torch.empty(0).device.type  # PyTorch 2.5 cannot name it after `torch.set_default_device(None)`
        for kind in {"cpu", default}:
            if torch.amp.is_autocast_available(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if default != "cpu":
            stack.enter_context(torch.device("cpu"))
        stack.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float32)
        yield


@contextmanager
def _signals(seconds, processor):
    """Inside, the end of the time raises `TooSlow`, and Ctrl-C `Interrupted`."""
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread only
        yield
        return
    limited = hasattr(signal, "setitimer")
    if limited:
        clock, late = (
            (signal.ITIMER_PROF, signal.SIGPROF) if processor else (signal.ITIMER_REAL, signal.SIGALRM)
        )
    raised = {signal.SIGINT: Interrupted, **({late: TooSlow} if limited else {})}
    earlier = {number: signal.signal(number, _raising(error)) for number, error in raised.items()}
    tracer = sys.gettrace()
    # Again every second, in case a bare `except` in the function swallows the first.
    timer = signal.setitimer(clock, seconds, 1) if limited else None
    try:
        try:
            yield
        finally:
            if limited:
                signal.setitimer(clock, 0)
    finally:  # also where the alarm came just before the line above
        if limited:
            signal.setitimer(clock, *timer)
        for number, handler in earlier.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if sys.gettrace() is not tracer:
            sys.settrace(tracer)


def _raising(error):
    swallowed = False

    def handler(number, frame):
        nonlocal swallowed
        if error is TooSlow and _imports(frame):
            return  # the timer comes again: a module that was imported by half would stay broken
        if swallowed and error is TooSlow:
            _raise_where_it_is_caught(frame)
        swallowed = True
        raise error

    return handler


def _raise_where_it_is_caught(frame):
    """Raise `TooSlow` once more in the first line of an `except` of the function that catches it.

    A loop around the `try` would go on for ever. Lines of the `except` are no longer in the `try`.
    """

    def trace(frame, event, argument):
        if event == "line" and sys.exc_info()[0] is TooSlow and any(_frames_of_the_function(frame)):
            raise TooSlow
        return trace

    for running in _frames_of_the_function(frame):
        running.f_trace = trace
    sys.settrace(trace)


def _imports(frame):
    return any(one.f_code.co_filename.startswith("<frozen importlib") for one in _frames_of_the_function(frame))


def _frames_of_the_function(frame):
    """A frame and those it was called from, up to the function's own; none where the function is not running."""
    frames = []
    while frame is not None and frame.f_code is not _run_function.__code__:
        frames.append(frame)
        frame = frame.f_back
    return frames if frame is not None else []


def _run_function(function, arguments, kept):
    handed = copy.deepcopy(arguments)
    outcome = _plain(function(*handed))
    return outcome if all(torch.equal(handed[place], arguments[place]) for place in kept) else WRITTEN


def _outcome(function, arguments, kept):
    try:
        return _run_function(function, arguments, kept)
    except (TooSlow, Interrupted):
        raise
    except BaseException as error:  # a learner's code may raise anything, SystemExit too
        text = "".join(traceback.TracebackException(type(error), error, None).format_exception_only()).strip()
        return NoNumbers(text, _own_lines(error, function))


def _plain(value):
    """Numbers as a dense tensor on the CPU, Python's own and `...` as they are, several arrays as a tuple."""
    if value is ... or type(value) is float:
        return value
    if value is None:
        return NoNumbers("None: is there a return?")
    if _holds_arrays(value):
        return tuple(map(_plain, value))
    if isinstance(value, np.ndarray):
        value = value.copy()  # torch takes no negative strides
    try:
        tensor = torch.as_tensor(value).detach()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return NoNumbers(f"{reprlib.repr(value)}, of type {type(value).__name__}")
    if tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized or tensor.is_nested:
        return NoNumbers("a tensor that is sparse, nested, quantized or without data")
    if math.prod(max(1, size) for size in tensor.shape) > LARGEST:  # what is empty may have many rows
        return NoNumbers(f"a tensor of shape {tuple(tensor.shape)}")
    return value if type(value) is int else tensor.cpu().clone()  # it may be written into by the next call


def _holds_arrays(value):
    """Whether it is a tuple or list with arrays in it, or with lists of arrays: PyTorch makes no tensor of those."""
    if not isinstance(value, (tuple, list)):
        return False
    return any(item is ... or getattr(item, "ndim", 0) or _holds_arrays(item) for item in value)


def _own_lines(error, function):
    """The innermost lines of the learner's own code in a traceback: those of their notebook, or of their module."""
    own = {"__main__", getattr(function, "__module__", None)}
    lines = [
        f"in line {number}: {linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()}"
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") in own
    ]
    return tuple(lines[-3:])
