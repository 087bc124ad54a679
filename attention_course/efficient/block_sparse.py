"""Attention between chosen pairs of blocks of tokens, and BigBird's choice of them.

Lesson: `chapters/approximations.ipynb`.
"""

import torch
from torch import Tensor

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.inputs import (
    hide,
    validate_self_attention,
    validate_weightless,
)
from attention_course.mechanism import Mechanism
from attention_course.support.validation import validate_whole_number


def block_sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    layout: Tensor,
    block_size: int,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """The definition: exact attention under a mask of all pairs, made of the layout's blocks."""
    block = torch.arange(query.size(-2), device=query.device) // block_size
    seen = layout[block[:, None], block]  # (n_tokens, n_tokens)
    seen = seen if mask is None else seen & mask
    return scaled_dot_product_attention(query, key, value, seen, causal=causal)


def bigbird_layout(
    n_blocks: int, *, window: int = 1, n_global: int = 1, n_random: int = 3, generator: torch.Generator | None = None
) -> Tensor:
    """Neighbours, global blocks and a few at random (Zaheer et al. 2020, arXiv:2007.14062).

    Args:
        n_blocks: Number of blocks.
        window: Neighbouring blocks to either side.
        n_global: This many leading and as many last blocks see all and are seen by all.
        n_random: Further blocks each block sees, where there are that many left.
        generator: Source of randomness (on the CPU).

    Returns:
        Boolean `(n_blocks, n_blocks)`, a row for each block of queries.

    Raises:
        ValueError: If one of the numbers is no whole number, or below 0.
    """
    for name, number in {"n_blocks": n_blocks, "window": window, "n_global": n_global, "n_random": n_random}.items():
        validate_whole_number(name, number, at_least=0)
    block = torch.arange(n_blocks)
    is_global = (block < n_global) | (block >= n_blocks - n_global)
    layout = ((block[:, None] - block).abs() <= window) | is_global | is_global[:, None]
    order = torch.rand(n_blocks, n_blocks, generator=generator).masked_fill(layout, -1.0).argsort(1, descending=True)
    chosen = torch.zeros_like(layout).scatter(1, order[:, :n_random], True)
    return layout | chosen


class BlockSparseAttention(Mechanism):
    """Exact attention under a mask made of whole blocks; what the layout leaves out is never computed.

    Args:
        layout: Boolean `(n_blocks, n_blocks)`: which block of queries (row) sees which block of keys. Shorter
            sequences use its first rows and columns.
        block_size: Tokens in a block.
        causal: Whether a token sees itself and earlier ones only.

    Raises:
        TypeError: If the layout is not boolean.
        ValueError: If it is not square, or `block_size` no whole number of 1 or more.
    """

    caches = False

    def __init__(self, layout: Tensor, block_size: int, *, causal: bool = False):
        super().__init__()
        if layout.dtype != torch.bool:
            raise TypeError(f"layout must be boolean, got {layout.dtype}")
        if layout.dim() != 2 or layout.size(0) != layout.size(1):
            raise ValueError(f"layout must have shape (n_blocks, n_blocks), got {tuple(layout.shape)}")
        validate_whole_number("block_size", block_size, at_least=1)
        self.block_size, self.causal = block_size, causal
        self.register_buffer("layout", layout.tril() if causal else layout.clone())

    def dense_mask(self, n_tokens: int, *, device=None) -> Tensor:
        """What may be seen, as the boolean mask `(n_tokens, n_tokens)` that is never built here."""
        block = torch.arange(n_tokens, device=self.layout.device) // self.block_size
        mask = self.layout[block[:, None], block].to(device)
        return mask.tril() if self.causal else mask

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `block_sparse_attention`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout, keys of other tokens, a mask that differs from query to query or more
                tokens than the layout has room for are given.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        validate_self_attention(query, key)
        room = len(self.layout) * self.block_size
        if query.size(-2) > room:
            raise ValueError(f"query must hold at most {room} tokens (the layout's blocks), got {query.size(-2)}")
        key, value = hide(key, mask), hide(value, mask)  # however large what is hidden is
        queries, keys, values = (tokens.split(self.block_size, dim=-2) for tokens in (query, key, value))
        masks = None if mask is None else mask.expand(*mask.shape[:-1], key.size(-2)).split(self.block_size, dim=-1)
        outputs = []
        for block, (q, row) in enumerate(zip(queries, self.layout, strict=False)):
            seen = row[: len(keys)].nonzero().flatten().tolist()
            if not seen:
                k, v = key[..., :0, :], value[..., :0, :]
                outputs.append(scaled_dot_product_attention(q, k, v, need_weights=False)[0])
                continue
            k, v = (torch.cat([blocks[other] for other in seen], dim=-2) for blocks in (keys, values))
            allowed = None if masks is None else torch.cat([masks[other] for other in seen], dim=-1)
            if self.causal and seen[-1] == block:  # the last block seen is the queries' own
                own = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device)
                own = own.tril(diagonal=k.size(-2) - q.size(-2))
                allowed = own if allowed is None else own & allowed
            outputs.append(scaled_dot_product_attention(q, k, v, allowed, need_weights=False)[0])
        return torch.cat(outputs, dim=-2), None
