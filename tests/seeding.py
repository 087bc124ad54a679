"""Randomness that is the same whenever a test runs."""

import torch
from torch import Tensor


def seeded(seed: int = 0) -> torch.Generator:
    """A new source of random numbers."""
    return torch.Generator().manual_seed(seed)


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    """The same random numbers for the same seed, rounded to the dtype."""
    return torch.randn(shape, generator=seeded(seed)).to(dtype)
