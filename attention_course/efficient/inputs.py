"""What every efficient mechanism asks of its inputs, and how it takes them apart and puts them together."""

from collections.abc import Iterable, Iterator
from itertools import chain

import torch
from torch import Tensor

from attention_course.support.autocast import result_dtype
from attention_course.support.validation import validate_inputs


def validate_weightless(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, dropout: float, need_weights: bool
) -> None:
    """Refuse what a mechanism that never forms the weights cannot do.

    Raises:
        TypeError: As `scaled_dot_product_attention`.
        ValueError: As `scaled_dot_product_attention`; if weights or dropout of weights are asked for; or if the mask
            is not the same for all queries.
    """
    validate_inputs(query, key, value, mask)
    if query.dim() != 4:
        raise ValueError(f"query must have shape (batch, heads, tokens, d_head), got {tuple(query.shape)}")
    if need_weights:
        raise ValueError("need_weights must be False: this mechanism never forms the weights")
    if dropout:
        raise ValueError(f"dropout must be 0, got {dropout}: this mechanism never forms the weights it would drop")
    if mask is not None and (mask.dim() == 0 or (mask.dim() >= 2 and mask.size(-2) != 1)):
        raise ValueError(
            f"mask must be the same for all queries, (..., 1, {key.size(-2)}) as padding_mask makes it, "
            f"got {tuple(mask.shape)}; what hides the future is a mechanism made with causal=True"
        )


def validate_self_attention(query: Tensor, key: Tensor) -> None:
    """Refuse keys of other tokens than the queries'.

    Raises:
        ValueError: If their numbers differ.
    """
    if query.size(-2) != key.size(-2):
        raise ValueError(f"key must have as many tokens as query, {query.size(-2)}, got {key.size(-2)}")


def hide(tokens: Tensor, mask: Tensor | None, fill: float = 0.0) -> Tensor:
    """`fill` for those tokens `(batch, heads, n_keys, features)` that the mask, `(..., 1, n_keys)` or less, hides."""
    # A product with 0 would not do: 0 times a token that has overflowed is NaN, and so may its gradient be.
    return tokens if mask is None else tokens.masked_fill(~mask.reshape(*mask.shape[:-2], mask.size(-1), 1), fill)


def split_keys(
    size: int, key: Tensor, value: Tensor, mask: Tensor | None
) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
    """Keys and values, zeros where they are hidden, and the mask, `size` keys at a time (the last time fewer)."""
    # Not slices: autograd would fill up the gradient of each with zeros to the length of all keys.
    keys, values = key.split(size, dim=-2), value.split(size, dim=-2)
    same_for_all = mask is None or mask.size(-1) == 1
    masks = [mask] * len(keys) if same_for_all else mask.split(size, dim=-1)
    for k, v, seen in zip(keys, values, masks, strict=True):
        yield hide(k, seen), hide(v, seen), seen


def join(pieces: Iterable[Tensor], like: Tensor) -> Tensor:
    """Join pieces `(batch, heads, tokens, features)` along the tokens, of which there are as many as in `like`.

    Pieces that a generator makes one by one are never all in memory. The dtype is `result_dtype(like)`.
    """
    pieces = iter(pieces)
    first = next(pieces)
    if first.requires_grad:  # autograd would copy the whole result again for each piece written into it
        return torch.cat([first, *pieces], dim=-2).to(result_dtype(like))
    joined = like.new_empty(*first.shape[:-2], like.size(-2), first.size(-1), dtype=result_dtype(like))
    end = 0
    for piece in chain([first], pieces):
        start, end = end, end + piece.size(-2)
        joined[..., start:end, :] = piece
    return joined
