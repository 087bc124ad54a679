"""Boolean masks. `True` means "this query may attend to this key".

Masks combine with `&` (both must allow) and `|` (either may allow), and broadcast
over the leading batch and head dimensions of the scores `(..., n_queries, n_keys)`.

Lesson: `chapters/masking.ipynb`.
"""

from operator import index

import torch
from torch import Tensor

from attention_course.support.validation import validate_mask


def causal_mask(n_queries: int, n_keys: int | None = None, *, device=None) -> Tensor:
    """Let each query attend to its own position and to earlier ones.

    The diagonal is aligned to the bottom right: the last query sees the last key. With
    fewer queries than keys the queries are the newest tokens of a longer sequence, as
    in decoding with a cache. (`is_causal=True` in PyTorch aligns to the top left.)

    Args:
        n_queries: Number of queries.
        n_keys: Number of keys, at least `n_queries`; the same number if left out.
        device: Where to put the mask.

    Returns:
        Boolean tensor of shape `(n_queries, n_keys)`.

    Raises:
        TypeError: If a number is not an integer.
        ValueError: If a number is negative, or there are fewer keys than queries.
    """
    n_keys = _at_least_as_many_keys(n_queries, n_keys)
    return _distance(n_queries, n_keys, device) >= 0


def sliding_window_mask(
    n_queries: int,
    window: int,
    n_keys: int | None = None,
    *,
    causal: bool = False,
    device=None,
) -> Tensor:
    """Let each query attend to keys at most `window` positions away (Beltagy et al. 2020, arXiv:2004.05150).

    Args:
        n_queries: Number of queries.
        window: Largest distance allowed, in positions; 0 leaves each query its own key.
        n_keys: Number of keys, at least `n_queries`; aligned as in `causal_mask`.
        causal: Whether to look back only.
        device: Where to put the mask.

    Returns:
        Boolean tensor of shape `(n_queries, n_keys)`.

    Raises:
        TypeError: If a number is not an integer.
        ValueError: If a number is negative, or there are fewer keys than queries.
    """
    _validate_count("window", window)
    n_keys = _at_least_as_many_keys(n_queries, n_keys)
    distance = _distance(n_queries, n_keys, device)
    near = distance.abs() <= window
    return near & (distance >= 0) if causal else near


def prefix_mask(n_tokens: int, prefix_length: int, *, device=None) -> Tensor:
    """Causal attention, except that everyone sees the whole prefix (Raffel et al. 2020, arXiv:1910.10683).

    Args:
        n_tokens: Number of tokens, queries and keys alike.
        prefix_length: How many leading tokens are visible to all.
        device: Where to put the mask.

    Returns:
        Boolean tensor of shape `(n_tokens, n_tokens)`.

    Raises:
        TypeError: If a number is not an integer.
        ValueError: If a number is negative, or the prefix longer than the sequence.
    """
    _validate_count("n_tokens", n_tokens)
    _validate_count("prefix_length", prefix_length)
    if prefix_length > n_tokens:
        raise ValueError(f"prefix_length must lie in 0..{n_tokens} (n_tokens), got {prefix_length}")
    in_prefix = torch.arange(n_tokens, device=device) < prefix_length
    return causal_mask(n_tokens, device=device) | in_prefix


def padding_mask(lengths: Tensor, n_keys: int | None = None) -> Tensor:
    """Hide the padding behind each sequence of a batch.

    Args:
        lengths: Integer tensor `(batch,)`: how many keys of each sequence are real.
        n_keys: Padded length; the longest sequence's length if left out (0 in an empty batch).

    Returns:
        Boolean tensor of shape `(batch, 1, 1, n_keys)`, ready for scores of shape
        `(batch, heads, n_queries, n_keys)`. For scores without a heads dimension,
        drop one: `padding_mask(lengths)[:, 0]`.

    Raises:
        TypeError: If `lengths` is not an integer tensor, or `n_keys` no integer.
        ValueError: If `lengths` is not one-dimensional or a length lies outside `0..n_keys`.
    """
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise TypeError(f"lengths must be an integer tensor, got {lengths.dtype}")
    if lengths.dim() != 1:
        raise ValueError(f"lengths must have shape (batch,), got {tuple(lengths.shape)}")
    if n_keys is None:
        n_keys = int(lengths.max()) if lengths.numel() else 0
    _validate_count("n_keys", n_keys)
    if lengths.numel() and not (0 <= int(lengths.min()) and int(lengths.max()) <= n_keys):
        raise ValueError(f"lengths must lie in 0..{n_keys} (n_keys), got {lengths.tolist()}")
    is_real = torch.arange(n_keys, device=lengths.device) < lengths[:, None]
    return is_real[:, None, None, :]


def hide_future(mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor | None:
    """A mask that hides later keys too, as `causal_mask` does.

    Args:
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `None` hides nothing yet.
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.

    Raises:
        TypeError: If the mask is not boolean.
        ValueError: If it does not broadcast, or there are fewer keys than queries.
    """
    if mask is not None:
        validate_mask(mask, (*query.shape[:-1], key.size(-2)))
    if query.size(-2) == 1 <= key.size(-2):  # one token alone is the newest, and may see them all
        return mask
    future_hidden = causal_mask(query.size(-2), key.size(-2), device=query.device)
    return future_hidden if mask is None else mask & future_hidden


def _distance(n_queries: int, n_keys: int, device) -> Tensor:
    """How far each key lies behind each query: `(n_queries, n_keys)`, negative in the future.

    What never holds a whole mask (tiles, blocks, `explore/views/parts/attend.js`) aligns the two again, in its own way;
    the tests of the contract and of the explorers compare it with this.
    """
    query_position = torch.arange(n_keys - n_queries, n_keys, device=device)
    return query_position[:, None] - torch.arange(n_keys, device=device)


def _at_least_as_many_keys(n_queries: int, n_keys: int | None) -> int:
    _validate_count("n_queries", n_queries)
    if n_keys is None:
        return n_queries
    _validate_count("n_keys", n_keys)
    if n_keys < n_queries:
        raise ValueError(f"n_keys must be at least n_queries = {n_queries}, got {n_keys}")
    return n_keys


def _validate_count(name: str, count: int) -> None:
    try:
        index(count)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {count!r}") from None
    if count < 0:
        raise ValueError(f"{name} must be 0 or more, got {count}")
