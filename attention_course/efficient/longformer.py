"""Sliding-window attention with global tokens.

Beltagy et al. 2020, arXiv:2004.05150: a token sees the `window` tokens to either side and a few global tokens, which
see everything. (The paper gives global tokens projections of their own; here they share the layer's.)

Lesson: `chapters/efficient.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.inputs import (
    hide,
    join,
    validate_self_attention,
    validate_weightless,
)
from attention_course.fused import bounded
from attention_course.mechanism import Mechanism
from attention_course.support.validation import validate_whole_number

SMALLEST_BLOCK = 64  # queries that share a window of keys: fewer would be too little work at a time
OUT_OF_REACH = 2**40  # the place of a key that no query may see


def window_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    window: int,
    n_global: int = 0,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """The definition: exact attention under a band, and the global tokens' rows and columns, of a mask of all pairs."""
    place = torch.arange(query.size(-2), device=query.device)
    near = (place[:, None] - place).abs() <= window  # (n_tokens, n_tokens)
    seen = near | (place < n_global) | (place[:, None] < n_global)
    seen = seen if mask is None else seen & mask
    return scaled_dot_product_attention(query, key, value, seen, causal=causal)


class LongformerAttention(Mechanism):
    """Exact attention under a band, in time and memory proportional to the number of tokens.

    Args:
        window: Largest distance, in positions, to either side.
        n_global: This many leading tokens are seen by all, and see all.
        causal: Whether a token, global ones too, sees itself and earlier ones only.

    Raises:
        ValueError: If `window` is no whole number of 1 or more, or `n_global` none of 0 or more.
    """

    caches = False

    def __init__(self, window: int, *, n_global: int = 0, causal: bool = False):
        super().__init__()
        validate_whole_number("window", window, at_least=1)
        validate_whole_number("n_global", n_global, at_least=0)
        self.window, self.n_global, self.causal = window, n_global, causal
        self.block_size = max(window, SMALLEST_BLOCK)

    def dense_mask(self, n_tokens: int, *, device=None) -> Tensor:
        """What may be seen, as the boolean mask `(n_tokens, n_tokens)` that is never built here."""
        place = torch.arange(n_tokens, device=device)
        seen = self._near(place[:, None] - place) | (place < self.n_global)
        if self.causal:
            return seen & (place[:, None] >= place)
        return seen | (place[:, None] < self.n_global)

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `window_attention`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout, keys of other tokens or a mask that differs from query to query are given.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        validate_self_attention(query, key)
        n_tokens, n_global = query.size(-2), min(self.n_global, query.size(-2))
        place = torch.arange(n_tokens, device=query.device).view(1, n_tokens, 1)
        key_place = place
        key, value = hide(key, mask), hide(value, mask)  # however large what is hidden is
        if mask is not None:  # a hidden key is put where no window reaches
            visible = mask.expand(*key.shape[:2], 1, n_tokens).transpose(-2, -1).flatten(0, 1)
            key_place = place.where(visible, OUT_OF_REACH)
        # Not for each call of the kernel, where the windows, which overlap, would be copied.
        query, key = bounded(query, key, query.size(-1) ** -0.5)
        queries, keys, values = (tokens.flatten(0, 1) for tokens in (query, key, value))  # (batch * heads, n_tokens, d)
        output = join(self._blocks(queries, keys, values, place, key_place, n_global), queries)
        output = output.unflatten(0, query.shape[:2])
        if n_global and not self.causal:
            everywhere, _ = scaled_dot_product_attention(query[..., :n_global, :], key, value, mask, need_weights=False)
            output = torch.cat([everywhere, output[..., n_global:, :]], dim=-2)
        return output, None

    def _blocks(self, query, key, value, place, key_place, n_global):
        """Outputs of the first queries, of all whose window lies inside the sequence at once, and of the last."""
        n_tokens, size, left = query.size(1), self.block_size, self.window
        right = 0 if self.causal else self.window
        n_blocks = max((n_tokens - left - right) // size, 0)
        first = left if n_blocks else n_tokens
        last = first + n_blocks * size
        front = tuple(tokens[:, None, :n_global] for tokens in (key, value, key_place))
        if n_global:  # they stand in front of every window
            key_place = key_place.where(place >= n_global, OUT_OF_REACH)
        queries, keys = (query, place), (key, value, key_place)

        def edge(rows, columns):
            return self._attend(*(t[:, None, rows] for t in queries), *(t[:, None, columns] for t in keys), front)

        yield edge(slice(0, first), slice(0, first + right))
        if n_blocks:
            q, q_place = (t[:, first:last].unflatten(1, (n_blocks, size)) for t in queries)
            # Windows overlap, and unfold shows them without a copy: (batch * heads, n_blocks, left + size + right, d).
            k, v, k_place = (t.unfold(1, left + size + right, size).transpose(-2, -1) for t in keys)
            if key_place is place:  # then the mask of one block is that of all
                q_place, k_place = q_place[:, :1], k_place[:, :1]
            yield self._attend(q, q_place, k, v, k_place, front)
        if last < n_tokens:
            yield edge(slice(last, n_tokens), slice(last - left, n_tokens))

    def _attend(self, query, query_place, key, value, key_place, front):
        """Blocks of queries `(batch * heads, blocks, rows, d)` on theirs of the keys, and on the global ones."""
        seen = self._near(query_place - key_place.transpose(-2, -1))
        if self.n_global:
            global_key, global_value, global_place = front
            ahead = query_place - global_place.transpose(-2, -1)
            seen_global = ahead >= 0 if self.causal else ahead > -OUT_OF_REACH // 2
            seen = torch.cat([seen_global.expand(*seen.shape[:-1], -1), seen], dim=-1)
            key = torch.cat([global_key.expand(-1, key.size(1), -1, -1), key], dim=-2)
            value = torch.cat([global_value.expand(-1, value.size(1), -1, -1), value], dim=-2)
        return F.scaled_dot_product_attention(query, key, value, seen).flatten(1, 2)

    def _near(self, distance: Tensor) -> Tensor:
        near = distance.abs() <= self.window
        return near & (distance >= 0) if self.causal else near
