"""What a chapter needs before its first cell: device, seed, plot style and fitting sizes."""

import os
import random
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

Size = TypeVar("Size")


@dataclass(frozen=True)
class Environment:
    """Where a chapter runs.

    Attributes:
        device: The fastest device found: CUDA, Apple's MPS, or the CPU.
        seed: What Python's, NumPy's and PyTorch's generators were seeded with.
    """

    device: torch.device
    seed: int

    def pick(self, *, cpu: Size, gpu: Size) -> Size:
        """The size that fits: `gpu` on CUDA, `cpu` elsewhere. Prints nothing: cells say what they picked."""
        return gpu if self.device.type == "cuda" else cpu

    def generator(self, seed: int | None = None) -> torch.Generator:
        """A CPU generator of its own, so that a cell run twice draws the same numbers.

        Args:
            seed: Another seed than the environment's.
        """
        return torch.Generator().manual_seed(self.seed if seed is None else seed)


def setup(seed: int = 0) -> Environment:
    """Find the device, seed every generator, set the plot style and print one line that says so.

    Args:
        seed: For Python, NumPy and PyTorch.

    Raises:
        RuntimeError: If PyTorch is older than 2.5, whose attention kernel returns NaN for a query
            that may attend to nothing.
    """
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 5):
        raise RuntimeError(f"the course needs PyTorch 2.5 or newer, found {torch.__version__}")
    # Late: whoever imports the package without drawing, as each process of a ring, does not wait for matplotlib.
    from attention_course.course import plots

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    plots.set_style()
    device = _best_device()
    print(f"PyTorch {torch.__version__} on {_describe(device)}, seed {seed}")
    return Environment(device, seed)


def _best_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def _describe(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{os.cpu_count()} CPU cores" if device.type == "cpu" else "Apple MPS"
