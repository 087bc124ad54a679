"""PyTorch's fused attention kernel, by the conventions of this course.

Lesson: `chapters/kernels.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.masks import hide_future
from attention_course.support.autocast import result_dtype


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

    What is hidden from a query has no say in its output, whatever finite numbers it holds. It has none in gradients
    either, if no query sees it, or its values times the gradient of an output are still numbers. Where others see what
    one does not, numbers beyond some 10^18 count as if they were that.

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
    in_kernel = False
    if causal and mask is None and bias is None and query.size(-2) == key.size(-2):
        in_kernel = True  # which hides the top right corner: the future of as many queries as keys, and no other
        query, key = bounded(query, key, scale)
    elif causal:
        mask = hide_future(mask, query, key)
    # The kernel hides by adding -inf, and an overflowing score plus -inf is NaN.
    if mask is not None and mask.numel():  # what no query sees becomes zeros
        seen = torch.atleast_2d(mask).view(torch.uint8).amax(-2).bool()  # any(-2), in a twentieth of its time
        key, value = (tokens.where(seen.unsqueeze(-1), 0.0) for tokens in (key, value))
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    if mask is not None:  # with fewer dimensions than the query, other than two, PyTorch would store the weights
        mask = mask[(None,) * (query.dim() - mask.dim())]
        if bias is not None or mask.size(-2) > 1:  # what is hidden from some may be seen by others
            query, key = bounded(query, key, scale)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, in_kernel, scale=scale)


def bounded(query: Tensor, key: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Queries and keys with numbers cut off from where on their scores could overflow.

    The bound is the same whatever the tokens are: if it came from them, hidden ones would have a say.
    """
    dtype = result_dtype(query)
    largest_score = torch.finfo(torch.promote_types(dtype, torch.float32)).max / 4  # some kernels use powers of 2
    bound = (largest_score / (query.size(-1) * max(abs(scale), 1.0))) ** 0.5
    bound = min(bound, torch.finfo(dtype).max)
    return query.clamp(-bound, bound), key.clamp(-bound, bound)
