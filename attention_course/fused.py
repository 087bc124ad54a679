"""PyTorch's fused attention kernel, by the conventions of this course."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.masks import hide_future


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    causal: bool = False,
    scale: float,
    dropout: float,
) -> Tensor:
    """The output of `scaled_dot_product_attention` from a kernel that never stores the weights.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
        bias: Added to the scaled scores.
        causal: Whether later keys are hidden, besides those that the mask hides, as by `causal_mask`.
        scale: What scores are multiplied by.
        dropout: Probability of dropping a weight.

    Returns:
        `(..., n_queries, d_v)`.
    """
    if mask is not None and (mask.dim() < 2 or mask.size(-2) == 1):
        # The kernel hides by adding -inf, and an overflowing score plus -inf is NaN. What no query sees becomes zeros.
        hidden = ~torch.atleast_2d(mask).transpose(-2, -1)  # (..., n_keys, 1)
        key, value = key.masked_fill(hidden, 0.0), value.masked_fill(hidden, 0.0)
    in_kernel = False
    if causal and mask is None and bias is None and query.size(-2) == key.size(-2):
        in_kernel = True  # which hides the top right corner: the future of as many queries as keys, and no other
    elif causal:
        mask = hide_future(mask, query, key)
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    if mask is not None:  # with fewer dimensions than the query, other than two, PyTorch would store the weights
        mask = mask[(None,) * (query.dim() - mask.dim())]
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, in_kernel, scale=scale)
