"""Attention under `torch.autocast`, which rounds what is multiplied to half precision."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor


def result_dtype(tokens: Tensor) -> torch.dtype:
    """The dtype of what is made of these tokens: their own, or the one that `torch.autocast` asks for."""
    device = tokens.device.type
    if tokens.dtype == torch.float64 or not _autocasts(device):  # which leaves float64 alone
        return tokens.dtype
    return torch.get_autocast_dtype(device)


def wide(tokens: Tensor) -> Tensor:
    """In float32 at least: sums over many tokens need more digits, and more room, than half precision has."""
    return tokens.to(torch.promote_types(tokens.dtype, torch.float32))


def in_float32(attention: Callable) -> Callable:
    """An attention that computes in float32 at least under `torch.autocast`, and rounds its output at the end.

    For those that add up over tokens themselves. Autocast would round each sum, and in float16 sums overflow.

    Args:
        attention: A function, or a mechanism's `forward`, that returns `(output, weights)`.
    """

    @wraps(attention)
    def call(*given, **options):
        device = next((each.device.type for each in (*given, *options.values()) if isinstance(each, Tensor)), "cpu")
        if not _autocasts(device):
            return attention(*given, **options)
        with torch.autocast(device, enabled=False):
            output, weights = attention(*map(_widened, given), **{name: _widened(options[name]) for name in options})
        return output.to(result_dtype(output)), weights

    return call


def _autocasts(device: str) -> bool:
    """Whether `torch.autocast` is on for this kind of device; some, such as "meta", know no autocast."""
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def _widened(given):
    return wide(given) if isinstance(given, Tensor) and given.is_floating_point() else given
