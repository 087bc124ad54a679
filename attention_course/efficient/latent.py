r"""Latent attention: the cache holds one short vector a token, from which every head's keys and values are made.

.. math:: c_t = W_\text{down} x_t, \quad k_t^h = U_K^h c_t, \quad v_t^h = U_V^h c_t

DeepSeek-AI 2024, arXiv:2405.04434 (multi-head latent attention). The up-projections can change sides,

.. math:: q \cdot U_K^h c_t = (U_K^{h\top} q) \cdot c_t, \qquad \sum_t w_t\, U_V^h c_t = U_V^h \sum_t w_t\, c_t

so that all heads read the latents themselves, as in multi-query attention. Rotary positions would stand between the two
matrices; so a few features of their own carry them, with one key for all heads.

Lesson: `chapters/smaller_caches.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.grouped import grouped_query_attention
from attention_course.kv_cache import KVCache, undone_on_error
from attention_course.mechanism import AttentionLayer
from attention_course.positions import rotate


class LatentAttention(AttentionLayer):
    """A drop-in for `MultiHeadAttention` whose cache grows by `d_latent + d_rotary` numbers a token for all heads.

    Of the paper's layer it leaves out the compression of the queries, which saves no cache, and the normalisation.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
        d_latent: Width of the latents.
        d_rotary: Further features of each query, and of the one key that heads share, turned by their positions;
            even. 0: no positions.

    Raises:
        ValueError: If `n_heads` does not divide `d_model`, `d_latent` is below 1, or `d_rotary` odd or negative.
    """

    def __init__(self, d_model: int, n_heads: int, d_latent: int, *, d_rotary: int = 0):
        super().__init__(d_model, n_heads)
        if d_latent < 1 or d_rotary < 0 or d_rotary % 2:
            raise ValueError(f"d_latent must be 1 or more and d_rotary even, 0 or more, got {d_latent} and {d_rotary}")
        self.d_latent, self.d_rotary = d_latent, d_rotary
        self.scale = (self.d_head + d_rotary) ** -0.5
        self.query_proj = nn.Linear(d_model, n_heads * (self.d_head + d_rotary), bias=False)
        self.down_proj = nn.Linear(d_model, d_latent + d_rotary, bias=False)
        self.key_up = nn.Linear(d_latent, d_model, bias=False)
        self.value_up = nn.Linear(d_latent, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As `MultiHeadAttention`, in the form that multiplies less: absorbed for few queries, else expanded.

        Raises:
            TypeError: As `MultiHeadAttention`.
            ValueError: As `MultiHeadAttention`; if a value other than the key is given: one latent makes both.
        """
        query, key, value = self.complete(query, key, value)
        if value is not key:
            raise ValueError("value must be left out, or be the key: one latent makes both")

        latents = self.down_proj(key).unsqueeze(1)  # (batch, 1, n_keys, d_latent + d_rotary)
        latents = self._turned(latents, start=0 if cache is None else len(cache))
        q = self.query_proj(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        with undone_on_error(cache):
            if cache is not None:
                latents, _ = cache.append(latents, latents[..., :0])  # the latents are keys and values in one
            q = self._turned(q, start=latents.size(2) - q.size(2))  # the last query stands where the last key does
            # Absorbing costs 2 (d_latent - d_head) products more a query and key; expanding, 2 d_latent d_head a key.
            absorb = q.size(2) * (self.d_latent - self.d_head) <= self.d_latent * self.d_head
            form = self.absorbed if absorb else self.expanded
            heads, weights = form(q, latents, mask, causal=causal, need_weights=need_weights)
        return self.out_proj(heads.transpose(1, 2).flatten(-2)), weights

    def expanded(
        self,
        q: Tensor,
        latents: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Make each head's keys and values, and attend to them: for training.

        Args:
            q: `(batch, n_heads, n_queries, d_head + d_rotary)`, turned by the positions.
            latents: `(batch, 1, n_keys, d_latent + d_rotary)`, as the cache holds them.
            mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`.
            causal: As for `MultiHeadAttention`.
            need_weights: Whether to return the weights.

        Returns:
            What the heads read, `(batch, n_heads, n_queries, d_head)`, and the weights or `None`.
        """
        content, rotary = latents.split([self.d_latent, self.d_rotary], dim=-1)
        k = content @ self._by_head(self.key_up).transpose(-2, -1)  # (batch, n_heads, n_keys, d_head)
        v = content @ self._by_head(self.value_up).transpose(-2, -1)
        k = torch.cat([k, rotary.expand(-1, self.n_heads, -1, -1)], dim=-1)
        v = F.pad(v, (0, self.d_rotary))  # kernels want keys and values of one width
        heads, weights = scaled_dot_product_attention(
            q, k, v, mask, causal=causal, scale=self.scale, need_weights=need_weights
        )
        return heads[..., : self.d_head], weights

    def absorbed(
        self,
        q: Tensor,
        latents: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The same by attending to the latents themselves, with no key or value made: for decoding."""
        content, rotary = q.split([self.d_head, self.d_rotary], dim=-1)
        q = torch.cat([content @ self._by_head(self.key_up), rotary], dim=-1)  # as wide as the latents
        # The rotary part comes along as values, again for the kernels' sake, and is dropped.
        read, weights = grouped_query_attention(
            scaled_dot_product_attention, q, latents, latents, mask,
            causal=causal, scale=self.scale, need_weights=need_weights,
        )  # fmt: skip
        return read[..., : self.d_latent] @ self._by_head(self.value_up).transpose(-2, -1), weights

    def _by_head(self, up: nn.Linear) -> Tensor:
        return up.weight.unflatten(0, (self.n_heads, -1))  # (n_heads, d_head, d_latent)

    def _turned(self, tokens: Tensor, start: int) -> Tensor:
        """Tokens whose last `d_rotary` features are turned by their positions, of which the first is `start`."""
        if self.d_rotary == 0:
            return tokens
        still, rotary = tokens.split([tokens.size(-1) - self.d_rotary, self.d_rotary], dim=-1)
        position = torch.arange(start, start + tokens.size(-2), device=tokens.device)
        return torch.cat([still, rotate(rotary, position)], dim=-1)
