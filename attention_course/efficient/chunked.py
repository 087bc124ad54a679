"""Exact attention, a chunk of queries at a time: the weights of one chunk are all that is ever stored.

Rabe & Staats 2021, arXiv:2112.05682, without their second step of chunking the keys too (see `flash`).
"""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from attention_course.attention import scaled_dot_product_attention


def chunked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
    chunk_size: int = 128,
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
        chunk_size: Queries at a time.
    """

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
