"""Whether two computations are the same, forward and backward."""

import torch
from seeding import seeded


def assert_same(output, expected, inputs, **tolerance):
    """Outputs, and their gradients for all of the inputs."""
    torch.testing.assert_close(output, expected, **tolerance)
    probe = torch.randn(output.shape, generator=seeded(9), dtype=output.dtype)
    ours, theirs = (torch.autograd.grad(each, inputs, probe) for each in (output, expected))
    for mine, its in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, its, **tolerance)
