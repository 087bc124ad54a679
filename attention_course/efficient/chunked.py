"""Exact attention, a chunk of queries at a time: the weights of one chunk are all that is ever stored.

Rabe & Staats 2021, arXiv:2112.05682, without their second step of chunking the keys too (see `flash`).

Lesson: `chapters/flash.ipynb`.
"""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from attention_course.attention import scaled_dot_product_attention
from attention_course.support.validation import validate_inputs

WEIGHTS = 2**21  # in a chunk, unless its size is given: larger pieces of memory are fetched anew each time, and cleared


def chunked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
    chunk_size: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """As `scaled_dot_product_attention`, in memory proportional to the number of keys.

    The backward pass computes each chunk's weights anew.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
        dropout: As for `scaled_dot_product_attention`.
        need_weights: Whether to return the weights, which then are stored after all.
        chunk_size: Queries at a time; if left out, as many as keep the weights of a chunk, of all heads, at 2**21.

    Raises:
        TypeError: As `scaled_dot_product_attention`.
        ValueError: As `scaled_dot_product_attention`; if `chunk_size` is below 1.
    """
    validate_inputs(query, key, value, mask)
    if chunk_size is None:
        chunk_size = max(1, WEIGHTS // max(1, query.shape[:-2].numel() * key.size(-2)))
    if chunk_size < 1:
        raise ValueError(f"chunk_size must be 1 or more, got {chunk_size}")

    def attend(queries, seen):
        return scaled_dot_product_attention(queries, key, value, seen, dropout=dropout)

    chunks = query.split(chunk_size, dim=-2)
    if mask is None or mask.dim() < 2 or mask.size(-2) == 1:
        masks = [mask] * len(chunks)
    else:
        masks = mask.split(chunk_size, dim=-2)
    outputs, weights = [], []
    for queries, seen in zip(chunks, masks, strict=True):
        output, chunk_weights = checkpoint(attend, queries, seen, use_reentrant=False)
        outputs.append(output)
        if need_weights:
            weights.append(chunk_weights)
        del chunk_weights  # or it would live on while the next chunk's are made
    return torch.cat(outputs, dim=-2), torch.cat(weights, dim=-2) if need_weights else None
