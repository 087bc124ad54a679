"""Time and peak memory of a callable, on the CPU or on a GPU."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch


@dataclass(frozen=True)
class Timing:
    """How long a call took, each time it was made.

    Attributes:
        seconds: Of each call, in order.
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """In seconds."""
        return median(self.seconds)

    @property
    def fastest(self) -> float:
        """In seconds."""
        return min(self.seconds)

    @property
    def slowest(self) -> float:
        """In seconds."""
        return max(self.seconds)


def time_calls(functions: dict[str, Callable[[], object]], *, repeats: int = 10, warmup: int = 2) -> dict[str, Timing]:
    """Time several callables in turns, so that a busy moment of the machine hits them all alike.

    Args:
        functions: What to call, by name.
        repeats: Timed calls of each.
        warmup: Calls of each before the clock starts.

    Returns:
        A `Timing` for each name.

    Raises:
        ValueError: If `repeats` is below 1.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be 1 or more, got {repeats}")
    for function in functions.values():
        for _ in range(warmup):
            function()
    seconds = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            seconds[name].append(_seconds(function))
    return {name: Timing(tuple(runs)) for name, runs in seconds.items()}


def _seconds(function: Callable[[], object]) -> float:
    # A GPU works behind Python's back: without waiting, only the launch would be timed.
    _wait_for_gpu()
    start = time.perf_counter()
    function()
    _wait_for_gpu()
    return time.perf_counter() - start


def _wait_for_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()


def peak_memory(function: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """Most bytes of tensors that were alive at once during a call, beyond those alive before it.

    On the CPU PyTorch's profiler reports each allocation, so the number is exact for tensors and
    does not count what the C++ kernels keep outside PyTorch's allocator.

    Args:
        function: What to call; its result is dropped after the count.
        device: Where it works: `"cpu"` or a CUDA device.

    Returns:
        Bytes.

    Raises:
        ValueError: If the device is neither.
    """
    kind = torch.device(device).type
    if kind == "cuda":
        _wait_for_gpu()
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        function()
        _wait_for_gpu()
        return torch.cuda.max_memory_allocated(device) - before
    if kind != "cpu":
        raise ValueError(f"device must be the CPU or a CUDA device, got {device}")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler reports each start and stop
    # That of autograd, since torch.profiler imports PyTorch's compiler, which takes a second.
    with torch.autograd.profiler.profile(profile_memory=True) as profiler:
        result = function()
    del result
    events = profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    alive = peak = 0
    for _, change in changes:
        alive += change
        peak = max(peak, alive)
    return peak


def describe_machine() -> str:
    """Processor, cores, GPU if any, and PyTorch's version: what a recorded timing needs beside it."""
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{_processor()}, {os.cpu_count()} cores{gpu}, PyTorch {torch.__version__}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
