"""What a lesson claims, checked where it stands: each claim prints one line for the reader."""

import numpy as np
import torch
from torch import Tensor


def claim(sentence: str, condition: bool | np.bool_ | Tensor, *, quiet: bool = False) -> None:
    """Print whether a claim holds: `✓ each row of the weights sums to 1`.

    A claim that does not hold prints `✗ not so in this run: ...` and the notebook goes on: a reader who changed a
    number is experimenting, and on another processor a trained model is another model.

    Args:
        sentence: What is claimed, in plain words on one line, understood without the cell around it: lower case
            first, no full stop.
        condition: Whether it holds: one truth value of Python, NumPy or PyTorch.
        quiet: Whether to print only where it does not hold: for what the text relies on and need not say again.

    Raises:
        TypeError: If the condition is anything but one truth value.
        ValueError: If the sentence is empty or longer than a line.
    """
    if not sentence.strip() or len(sentence.splitlines()) > 1:
        raise ValueError(f"sentence must be one line that says what is claimed, got {sentence!r}")
    if not _truth(condition):
        print(f"✗ not so in this run: {sentence}")
    elif not quiet:
        print(f"✓ {sentence}")


def _truth(condition: object) -> bool:
    """The one truth value that a condition is."""
    several = isinstance(condition, Tensor | np.ndarray)
    if several and condition.ndim == 0 and condition.dtype in (torch.bool, np.bool_):
        return bool(condition)
    if several:
        raise TypeError(
            f"condition must be one truth value, got shape {tuple(condition.shape)} of {condition.dtype};"
            " .all() or .any() makes one of many"
        )
    if not isinstance(condition, bool | np.bool_):
        raise TypeError(f"condition must be one truth value, got {condition!r}, a {type(condition).__name__}")
    return bool(condition)
