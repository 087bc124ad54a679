"""What a chapter needs before its first cell: device, seed, plot style and fitting sizes."""

import importlib.metadata
import os
import random
import sys
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

Size = TypeVar("Size")
PLACEHOLDER = "your-organisation"  # stands in the address of a course that is not published


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

    @property
    def dtype(self) -> torch.dtype:
        """What `autocast` computes products in: bfloat16 on a GPU that is built for it, else float32."""
        cuda = self.device.type == "cuda"
        return torch.bfloat16 if cuda and torch.cuda.is_bf16_supported(including_emulation=False) else torch.float32

    def autocast(self) -> torch.autocast:
        """A context in which models compute their products in `dtype`; where that is float32 it changes nothing."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype == torch.bfloat16)

    def generator(self, seed: int | None = None) -> torch.Generator:
        """A CPU generator of its own, so that a cell run twice draws the same numbers.

        Args:
            seed: Another seed than the environment's.
        """
        return torch.Generator().manual_seed(self.seed if seed is None else seed)


def setup(seed: int = 0, *, version: str | None = None, page: str | None = None) -> Environment:
    """Find the device, seed every generator, set the plot style and print one line that says so.

    Args:
        seed: For Python, NumPy and PyTorch.
        version: The version of the package that a notebook belongs to. Where another is installed, it says so.
        page: The address at which the notebook can be read; said in Colab, where it may be all that a reader has.

    Raises:
        RuntimeError: If PyTorch is older than 2.5, whose attention kernel returns NaN for a query
            that may attend to nothing.
        ModuleNotFoundError: If what the pages draw with is not installed.
    """
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 5):
        raise RuntimeError(f"the course needs PyTorch 2.5 or newer, found {torch.__version__}")
    try:  # here, so that the package can be imported where there is nothing to draw with
        from attention_course.course import plots
    except ModuleNotFoundError as error:
        message = f"the pages need {error.name}: pip install 'attention_course[course]'"
        raise ModuleNotFoundError(message, name=error.name) from None
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    plots.set_style()
    device = _best_device()
    if page and PLACEHOLDER not in page and "google.colab" in sys.modules:
        print(f"This notebook as a page: {page}")
    installed = {one.version for one in importlib.metadata.distributions(name="attention_course")}
    if version and installed and version not in installed:
        print(f"This notebook belongs to version {version} of attention_course, and {min(installed)} is installed:")
        print("names may be missing, and numbers may differ from those on the page.")
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
