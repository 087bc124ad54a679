"""Groups of query heads that share one head of keys and values.

Lesson: `chapters/smaller_caches.ipynb`.
"""

from collections.abc import Callable

from torch import Tensor

from attention_course.masks import hide_future
from attention_course.support.validation import validate_bias, validate_inputs, validate_mask

# Up to so many queries a head, those of a group are laid behind one another, and the mask is copied for each head.
# With more queries that copy would be larger than one of the keys and values, which are then copied instead.
MOST_FOLDED = 256


def grouped_query_attention(
    attention: Callable,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
    **options,
) -> tuple[Tensor, Tensor | None]:
    """Let several query heads read the same head of keys and values.

    Shazeer 2019, arXiv:1911.02150 (one head for all); Ainslie et al. 2023, arXiv:2305.13245. The queries of a group
    read the same keys, so they can be laid behind one another as if they were queries of one head: keys and values are
    not copied for each query head. That is done for few queries, as in decoding, where the copy would take longer than
    the attention.

    Args:
        attention: `scaled_dot_product_attention`, or a function that takes the same arguments, `causal` too, and for
            which it makes no difference in which order queries stand.
        query: `(batch, n_heads, n_queries, d_k)`.
        key: `(batch, n_kv_heads, n_keys, d_k)`; `n_kv_heads` divides `n_heads`, and neighbouring query heads share.
        value: `(batch, n_kv_heads, n_keys, d_v)`.
        mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`; `True` = may attend.
        bias: As for `scaled_dot_product_attention`.
        causal: Whether later keys are hidden, besides those that the mask hides, as by `causal_mask`.
        options: What else `attention` takes: scale, temperature, dropout, need_weights.

    Returns:
        The output `(batch, n_heads, n_queries, d_v)` and the weights `(batch, n_heads, n_queries, n_keys)` or `None`.

    Raises:
        TypeError: As `attention`.
        ValueError: As `attention`; if the numbers of heads do not divide.
    """
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise ValueError(f"{name} must have shape (batch, heads, tokens, features), got {tuple(tensor.shape)}")
    n_heads, n_kv_heads, n_queries, n_keys = query.size(1), key.size(1), query.size(2), key.size(2)
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(f"key's heads must divide the query's, {n_heads}, got {n_kv_heads}")
    if not query.size(0) == key.size(0) == value.size(0):
        batches = f"{query.size(0)}, {key.size(0)} and {value.size(0)}"
        raise ValueError(f"query, key and value must have the same batch size, got {batches}")
    validate_inputs(query[:, :n_kv_heads], key, value)
    if mask is not None:
        validate_mask(mask, (*query.shape[:-1], n_keys))
    if bias is not None:
        validate_bias(bias, query.dtype, (*query.shape[:-1], n_keys))
    if n_queries > MOST_FOLDED:
        key, value = repeat_heads(key, n_heads), repeat_heads(value, n_heads)
        return attention(query, key, value, mask, bias=bias, causal=causal, **options)
    if causal:
        mask = hide_future(mask, query, key)
    group = n_heads // n_kv_heads
    query = query.reshape(query.size(0), n_kv_heads, group * n_queries, query.size(3))
    mask, bias = (None if each is None else _fold(each, n_heads, group, n_queries) for each in (mask, bias))
    output, weights = attention(query, key, value, mask, bias=bias, causal=False, **options)
    output = output.unflatten(2, (group, n_queries)).flatten(1, 2)
    return output, None if weights is None else weights.unflatten(2, (group, n_queries)).flatten(1, 2)


def repeat_heads(tokens: Tensor, n_heads: int) -> Tensor:
    """`(batch, n_kv_heads, tokens, features)` to as many heads as the queries have, each copied for its group."""
    if tokens.size(1) == n_heads:
        return tokens
    return tokens.repeat_interleave(n_heads // tokens.size(1), dim=1)


def _fold(mask: Tensor, n_heads: int, group: int, n_queries: int) -> Tensor:
    """A mask or bias for the queries of a group, laid behind one another head by head."""
    by_head = mask.dim() > 2 and mask.size(-3) > 1
    if not by_head and (mask.dim() < 2 or mask.size(-2) == 1):  # the same for all of them
        return mask
    heads = n_heads if by_head else group
    mask = mask.expand(*mask.shape[:-3], heads, n_queries, mask.size(-1))
    return mask.unflatten(-3, (-1, group)).flatten(-3, -2)  # (..., n_kv_heads or 1, group * n_queries, n_keys)
