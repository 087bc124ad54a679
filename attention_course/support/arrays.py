"""Numbers of any kind as NumPy arrays, for what draws and judges them."""

import numpy as np
import torch


def as_array(numbers) -> np.ndarray:
    """A tensor on any device, in any dtype, or anything NumPy takes, as an array."""
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach().cpu()
        if numbers.dtype == torch.bfloat16:  # which NumPy does not know
            numbers = numbers.float()
        numbers = numbers.numpy()
    return np.asarray(numbers)
