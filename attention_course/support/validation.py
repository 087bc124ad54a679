"""What attention asks of its inputs, and the errors that say what came instead."""

from numbers import Integral

import torch
from torch import Tensor


def validate_inputs(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, bias: Tensor | None = None
) -> None:
    """Refuse what does not fit together.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`.
        bias: Of the query's dtype, broadcastable to the same.

    Raises:
        TypeError: If the mask is not boolean, or the dtypes of the others differ.
        ValueError: If shapes do not fit.
    """
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() < 2:
            raise ValueError(f"{name} must have shape (..., tokens, features), got {tuple(tensor.shape)}")
        if not tensor.is_floating_point() or tensor.dtype != query.dtype:
            raise TypeError(
                f"query, key and value must share one floating dtype, got {name} in {tensor.dtype}"
                f" and query in {query.dtype}"
            )
    if query.size(-1) < 1:
        raise ValueError(f"query must have d_k 1 or more, got {tuple(query.shape)}")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"query and key must have the same d_k, got {query.size(-1)} in query and {key.size(-1)} in key"
        )
    if key.size(-2) != value.size(-2):
        raise ValueError(
            f"key and value must have the same n_keys, got {key.size(-2)} in key and {value.size(-2)} in value"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            "query, key and value must have the same leading (batch, heads) dimensions, got "
            f"{tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and {tuple(value.shape[:-2])}"
        )
    scores_shape = (*query.shape[:-1], key.size(-2))
    if mask is not None:
        validate_mask(mask, scores_shape)
    if bias is not None:
        validate_bias(bias, query.dtype, scores_shape)


def validate_mask(mask: Tensor, scores_shape) -> None:
    """Refuse a mask that is not boolean (`TypeError`), or does not broadcast to the scores (`ValueError`)."""
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean with True = may attend, got {mask.dtype}; additive terms go in bias")
    _validate_broadcast("mask", mask, scores_shape)


def validate_bias(bias: Tensor, dtype: torch.dtype, scores_shape) -> None:
    """Refuse a bias of another dtype than the query's (`TypeError`), or that does not broadcast (`ValueError`)."""
    if bias.dtype != dtype:
        raise TypeError(f"bias must have the dtype of the query, {dtype}, got {bias.dtype}")
    _validate_broadcast("bias", bias, scores_shape)


def validate_dropout(dropout: float) -> None:
    """Refuse what is no probability below 1 (`ValueError`)."""
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")


def _validate_broadcast(name: str, tensor: Tensor, scores_shape) -> None:
    """The tensor may be stretched to the scores; it must not stretch them."""
    sizes = zip(reversed(tensor.shape), reversed(scores_shape), strict=False)
    if tensor.dim() > len(scores_shape) or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(f"{name} must broadcast to the scores' shape {tuple(scores_shape)}, got {tuple(tensor.shape)}")


def validate_whole_number(name: str, number: int, *, at_least: int) -> None:
    """Refuse what is no whole number (nan neither), or too small a one (`ValueError`)."""
    if not isinstance(number, Integral) or number < at_least:
        raise ValueError(f"{name} must be a whole number, {at_least} or more, got {number}")
