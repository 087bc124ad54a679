"""Sliding-window attention with global tokens.

Beltagy et al. 2020, arXiv:2004.05150: a token sees the `window` tokens to either side and a few global tokens, which
see everything. (The paper gives global tokens projections of their own; here they share the layer's.)
"""

import torch
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.inputs import check, check_self_attention, mask_slice

SMALLEST_BLOCK = 64  # smaller matrices would leave a core idle between them


class LongformerAttention(nn.Module):
    """Exact attention under a band, in time and memory proportional to the number of tokens.

    Args:
        window: Largest distance, in positions, to either side.
        n_global: This many leading tokens are seen by all, and see all.
        causal: Whether a token, global ones too, sees itself and earlier ones only.

    Raises:
        ValueError: If `window` is below 1 or `n_global` below 0.
    """

    def __init__(self, window: int, *, n_global: int = 0, causal: bool = False):
        super().__init__()
        if window < 1 or n_global < 0:
            raise ValueError(f"window must be 1 or more and n_global 0 or more, got {window} and {n_global}")
        self.window, self.n_global, self.causal = window, n_global, causal
        self.block_size = max(window, SMALLEST_BLOCK)

    def dense_mask(self, n_tokens: int, *, device=None) -> Tensor:
        """What may be seen, as the boolean mask `(n_tokens, n_tokens)` that is never built here."""
        position = torch.arange(n_tokens, device=device)
        seen = self._near(position, position) | (position < self.n_global)
        if self.causal:
            return seen & (position[:, None] >= position)
        return seen | (position[:, None] < self.n_global)

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention` under `dense_mask`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout, keys of other tokens or a mask that differs from query to query are given.
        """
        check(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        check_self_attention(query, key)
        n_global = min(self.n_global, query.size(-2))
        # Blocks as long as the window: what a block may see lies in itself and in its two neighbours.
        queries, keys, values = (tokens.split(self.block_size, dim=-2) for tokens in (query, key, value))
        position = torch.arange(query.size(-2), device=query.device).split(self.block_size)
        outputs = []
        for block, q in enumerate(queries):
            near = slice(max(block - 1, 0), block + (1 if self.causal else 2))
            k, v, at = list(keys[near]), list(values[near]), torch.cat(position[near])
            seen = self._near(position[block], at) & (at >= n_global)
            seen = seen & mask_slice(mask, at[0], at[-1] + 1)
            if n_global:
                k, v = [key[..., :n_global, :], *k], [value[..., :n_global, :], *v]
                seen = self._with_global(seen, position[block], n_global, mask)
            outputs.append(
                scaled_dot_product_attention(q, torch.cat(k, -2), torch.cat(v, -2), seen, need_weights=False)[0]
            )
        output = torch.cat(outputs, dim=-2)
        if n_global and not self.causal:
            everywhere, _ = scaled_dot_product_attention(query[..., :n_global, :], key, value, mask, need_weights=False)
            output = torch.cat([everywhere, output[..., n_global:, :]], dim=-2)
        return output, None

    def _near(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        distance = query_position[:, None] - key_position
        near = distance.abs() <= self.window
        return near & (distance >= 0) if self.causal else near

    def _with_global(self, seen: Tensor, query_position: Tensor, n_global: int, mask: Tensor | None) -> Tensor:
        """The mask with columns for the global keys in front."""
        earlier = query_position[:, None] >= torch.arange(n_global, device=seen.device)
        seen_global = (earlier if self.causal else torch.ones_like(earlier)) & mask_slice(mask, 0, n_global)
        return torch.cat([seen_global, seen], dim=-1)
