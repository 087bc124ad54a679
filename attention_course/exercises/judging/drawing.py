"""Random arguments for exercises."""

import torch


def normal(generator, *shape):
    """Normal numbers in a tensor of the shape."""
    return torch.randn(shape, generator=generator)


def integer(low, high, generator):
    """A whole number from `low` to `high`, both included."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def lengths_up_to(longest, batch, generator):
    """The lengths of a padded batch, `(batch,)`: the first sequence is as long as it can be."""
    lengths = torch.randint(1, longest + 1, (batch,), generator=generator)
    lengths[0] = longest
    return lengths
