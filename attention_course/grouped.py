"""Groups of query heads that share one head of keys and values."""

from collections.abc import Callable

from torch import Tensor

from attention_course.masks import causal_mask
from attention_course.validation import validate_inputs, validate_mask

MOST_FOLDED = 256  # queries up to which a group's stand in line; beyond, copies of the keys weigh less than of the mask


def grouped_query_attention(
    attention: Callable,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    **options,
) -> tuple[Tensor, Tensor | None]:
    """Let several query heads read the same head of keys and values.

    Shazeer 2019, arXiv:1911.02150 (one head for all); Ainslie et al. 2023, arXiv:2305.13245. The queries of a group
    read the same keys, so they can stand in line as if they were queries of one head: keys and values are not copied
    for each of them. In decoding, where the copy would take longer than the attention, that is what is done.

    Args:
        attention: `scaled_dot_product_attention`, or a function that takes the same arguments and for which it makes
            no difference in which order queries stand.
        query: `(batch, n_heads, n_queries, d_k)`.
        key: `(batch, n_kv_heads, n_keys, d_k)`; `n_kv_heads` divides `n_heads`, and neighbouring query heads share.
        value: `(batch, n_kv_heads, n_keys, d_v)`.
        mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`; `True` = may attend.
        causal: Whether later keys are hidden, besides those that the mask hides, as by `causal_mask`.
        options: What else `attention` takes: scale, dropout, need_weights.

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
    validate_inputs(query[:, :n_kv_heads], key, value)
    if mask is not None:
        validate_mask(mask, (*query.shape[:-1], n_keys))
    if n_queries > MOST_FOLDED:
        key, value = repeat_heads(key, n_heads), repeat_heads(value, n_heads)
        return attention(query, key, value, mask, causal=causal, **options)
    if causal and n_queries > 1:  # one token alone is the newest, and may see them all
        future_hidden = causal_mask(n_queries, n_keys, device=query.device)
        mask = future_hidden if mask is None else mask & future_hidden
    group = n_heads // n_kv_heads
    query = query.reshape(query.size(0), n_kv_heads, group * n_queries, query.size(3))
    mask = None if mask is None else _fold_mask(mask, n_heads, group, n_queries)
    output, weights = attention(query, key, value, mask, **options)
    output = output.unflatten(2, (group, n_queries)).flatten(1, 2)
    return output, None if weights is None else weights.unflatten(2, (group, n_queries)).flatten(1, 2)


def repeat_heads(tokens: Tensor, n_heads: int) -> Tensor:
    """`(batch, n_kv_heads, tokens, features)` to as many heads as the queries have, each copied for its group."""
    return tokens.repeat_interleave(n_heads // tokens.size(1), dim=1)


def _fold_mask(mask: Tensor, n_heads: int, group: int, n_queries: int) -> Tensor:
    """The mask for queries that stand in line, head after head of their group."""
    by_head = mask.dim() > 2 and mask.size(-3) > 1
    if not by_head and (mask.dim() < 2 or mask.size(-2) == 1):  # the same for all of them
        return mask
    heads = n_heads if by_head else group
    mask = mask.expand(*mask.shape[:-3], heads, n_queries, mask.size(-1))
    return mask.unflatten(-3, (-1, group)).flatten(-3, -2)  # (..., n_kv_heads or 1, group * n_queries, n_keys)
