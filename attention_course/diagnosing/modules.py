"""Somebody's module, made fit for being asked."""

import torch
from torch import nn


def cast(attention: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The module itself, its real numbers in another precision; `to` makes them of complex ones, too."""
    for tensor in (*attention.parameters(), *attention.buffers()):
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype)
    return attention


def stirred(attention: nn.Module) -> nn.Module:
    """The module itself; what is to be trained and starts at zero, or nearly, would let nothing through."""
    generator = torch.Generator().manual_seed(0)
    for parameter in attention.parameters():
        if parameter.requires_grad and (parameter.abs() < 1e-3).all():
            parameter.data.normal_(std=0.02, generator=generator)
    return attention
