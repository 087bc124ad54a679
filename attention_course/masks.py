"""Boolean masks. `True` means "this query may attend to this key".

Masks combine with `&` (both must allow) and `|` (either may allow), and broadcast
over the leading batch and head dimensions of the scores `(..., n_queries, n_keys)`.
"""

import torch
from torch import Tensor


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
        ValueError: If there are fewer keys than queries.
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
        ValueError: If `window` is negative or there are fewer keys than queries.
    """
    if window < 0:
        raise ValueError(f"window must be 0 or more, got {window}")
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
        ValueError: If the prefix is negative or longer than the sequence.
    """
    if not 0 <= prefix_length <= n_tokens:
        raise ValueError(f"prefix_length must lie in 0..{n_tokens} (n_tokens), got {prefix_length}")
    in_prefix = torch.arange(n_tokens, device=device) < prefix_length
    return causal_mask(n_tokens, device=device) | in_prefix


def padding_mask(lengths: Tensor, n_keys: int | None = None) -> Tensor:
    """Hide the padding behind each sequence of a batch.

    Args:
        lengths: Integer tensor `(batch,)`: how many keys of each sequence are real.
        n_keys: Padded length; the longest sequence's length if left out.

    Returns:
        Boolean tensor of shape `(batch, 1, 1, n_keys)`, ready for scores of shape
        `(batch, heads, n_queries, n_keys)`. For scores without a heads dimension,
        drop one: `padding_mask(lengths)[:, 0]`.

    Raises:
        TypeError: If `lengths` is not an integer tensor.
        ValueError: If `lengths` is not one-dimensional or a length lies outside `0..n_keys`.
    """
    if lengths.dtype.is_floating_point or lengths.dtype == torch.bool:
        raise TypeError(f"lengths must be an integer tensor, got {lengths.dtype}")
    if lengths.dim() != 1:
        raise ValueError(f"lengths must have shape (batch,), got {tuple(lengths.shape)}")
    if n_keys is None:
        n_keys = int(lengths.max())
    if lengths.numel() and not (0 <= int(lengths.min()) and int(lengths.max()) <= n_keys):
        raise ValueError(f"lengths must lie in 0..{n_keys} (n_keys), got {lengths.tolist()}")
    is_real = torch.arange(n_keys, device=lengths.device) < lengths[:, None]
    return is_real[:, None, None, :]


def _distance(n_queries: int, n_keys: int, device) -> Tensor:
    """How far each key lies behind each query: `(n_queries, n_keys)`, negative in the future."""
    query_position = torch.arange(n_keys - n_queries, n_keys, device=device)
    return query_position[:, None] - torch.arange(n_keys, device=device)


def _at_least_as_many_keys(n_queries: int, n_keys: int | None) -> int:
    if n_keys is None:
        return n_queries
    if n_keys < n_queries:
        raise ValueError(f"n_keys must be at least n_queries = {n_queries}, got {n_keys}")
    return n_keys
