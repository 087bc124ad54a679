"""Scaled dot-product attention, and the multi-head layer that any attention plugs into.

Lesson: `chapters/scaled_dot_product.ipynb` and `chapters/multi_head.ipynb`.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.fused import fused_attention
from attention_course.grouped import grouped_query_attention
from attention_course.kv_cache import KVCache, undone_on_error
from attention_course.masks import hide_future
from attention_course.mechanism import AttentionLayer, Mechanism, as_mechanism
from attention_course.support.validation import validate_dropout, validate_inputs, validate_mask


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    temperature: float = 1.0,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    r"""Average the values, each weighted by how well its key matches the query.

    .. math:: \operatorname{softmax}\!\left(\frac{QK^\top \cdot \text{scale} + B}{\text{temperature}}\right) V

    Vaswani et al. 2017, arXiv:1706.03762. A query that may attend to nothing gets zeros,
    in the output and in the weights.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
        bias: Added to the scaled scores; same dtype, broadcastable to their shape. -inf hides, as the mask does.
        causal: Whether later keys are hidden, besides those that the mask hides; the last query stands where the
            last key does, as in `causal_mask`.
        scale: What scores are multiplied by; `1 / sqrt(d_k)` if left out.
        temperature: Divides scores and bias: above 1 flattens the weights, below 1 sharpens them.
        dropout: Probability of dropping a weight. Applied whenever it is above 0: pass 0 in evaluation.
        need_weights: `False` returns `None` for the weights and takes PyTorch's fused kernel,
            which never stores them.

    Returns:
        The output `(..., n_queries, d_v)` and the weights `(..., n_queries, n_keys)`. Weights are
        the probabilities before dropout: a row sums to 1, or to 0 where the mask allows nothing.

    Raises:
        TypeError: If the mask is not boolean, or the dtypes of the others differ.
        ValueError: If shapes do not fit, the temperature is not positive or dropout lies outside [0, 1).
    """
    validate_inputs(query, key, value, mask, bias)
    validate_dropout(dropout)
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    # Both before the product, which in float16 would overflow for long vectors.
    scale = (query.size(-1) ** -0.5 if scale is None else scale) / temperature
    if bias is not None:  # what was finite stays finite, and what hides stays hidden
        bias = torch.where(bias.isinf(), bias, (bias / temperature).clamp_min(torch.finfo(bias.dtype).min))
    if not need_weights:
        return fused_attention(query, key, value, mask, bias, causal=causal, scale=scale, dropout=dropout), None

    if causal:
        mask = hide_future(mask, query, key)
    scores = (query * scale) @ key.transpose(-2, -1)  # (..., n_queries, n_keys)
    if bias is not None:
        scores = scores + bias
        visible = bias != -torch.inf
        mask = visible if mask is None else mask & visible
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys a query may attend to; zeros where it may attend to none.

    Args:
        scores: `(..., n_queries, n_keys)`.
        mask: Boolean, broadcastable to the scores; `True` = may attend.

    Returns:
        Weights of the shape of `scores`; each row sums to 1, or to 0 where all of it is masked.

    Raises:
        TypeError: If the mask is not boolean.
        ValueError: If the mask does not broadcast to the scores.
    """
    if mask is None:
        return scores.softmax(-1)
    validate_mask(mask, scores.shape)
    if scores.size(-1) == 0:  # of no keys there is no largest
        return scores
    # The lowest finite number, not -inf: a row of nothing but -inf would be NaN in the forward
    # and the backward pass. The last fill turns that row's uniform weights into zeros.
    # What is seen is first moved up until its largest is 0, or scores as low as that would share with what is hidden.
    hidden, lowest = ~mask, torch.finfo(scores.dtype).min
    largest = scores.detach().masked_fill(hidden, lowest).amax(-1, keepdim=True).clamp_min(lowest)
    return (scores - largest).masked_fill(hidden, lowest).softmax(-1).masked_fill(hidden, 0.0)


class DotProductAttention(Mechanism):
    """`scaled_dot_product_attention` as a mechanism: the kernel hides the future and shares heads."""

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`."""
        return self.attend(query, key, value, mask, dropout=dropout, need_weights=need_weights)

    def attend(self, query, key, value, mask=None, **options):
        """As `grouped_query_attention` where heads are shared, else as `scaled_dot_product_attention`."""
        if key.size(1) < query.size(1):
            return grouped_query_attention(scaled_dot_product_attention, query, key, value, mask, **options)
        return scaled_dot_product_attention(query, key, value, mask, **options)


class MultiHeadAttention(AttentionLayer):
    """Attention in several subspaces at once (Vaswani et al. 2017, arXiv:1706.03762).

    Queries, keys and values are projected, split into heads, attended to head by head,
    joined and projected back. With `n_kv_heads < n_heads`, groups of query heads share one
    key-value head: grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245), and
    multi-query attention (Shazeer 2019, arXiv:1911.02150) at `n_kv_heads = 1`.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of query heads; divides `d_model`.
        n_kv_heads: Number of key-value heads; divides `n_heads`, and equals it if left out.
        dropout: Probability of dropping an attention weight in training.
        bias: Whether the four projections have biases.
        attention: A `Mechanism`, or any function `attention(query, key, value, mask, *, dropout, need_weights)`
            on `(batch, n_heads, tokens, d_head)` that returns `(output, weights)`; `DotProductAttention` if left out.

    Raises:
        TypeError: If the attention cannot be called.
        ValueError: If the numbers do not divide each other, dropout lies outside [0, 1), or fewer key-value heads
            than query heads are to share one projection with them.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        attention: Mechanism | Callable | None = None,
    ):
        super().__init__(d_model, n_heads)
        validate_dropout(dropout)
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads must divide n_heads = {n_heads}, got {n_kv_heads}")
        self.n_kv_heads = n_kv_heads
        self.dropout = dropout
        self.attention = DotProductAttention() if attention is None else as_mechanism(attention)
        self.query_proj = nn.Linear(d_model, d_model, bias=bias)
        if self.attention.shared_query_key:
            if n_kv_heads < n_heads:
                raise ValueError(f"n_kv_heads must be n_heads = {n_heads} where keys are queries, got {n_kv_heads}")
            self.key_proj = self.query_proj
        else:
            self.key_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.value_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

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
        """Attend from `query` to `key` and `value`.

        Args:
            query: `(batch, n_queries, d_model)`.
            key: `(batch, n_keys, d_model)`; the query if left out (self-attention).
            value: `(batch, n_keys, d_model)`; the key if left out.
            mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`; `True` = may attend.
            causal: Whether later tokens are hidden, besides those that the mask hides; the queries are the newest.
            need_weights: Whether to return the weights of every head.
            cache: Holds earlier tokens' keys and values. This call's are appended to it, and the
                queries attend to all of them: `n_keys` in `mask` counts the earlier ones too.

        Returns:
            The output `(batch, n_queries, d_model)`, and the weights
            `(batch, n_heads, n_queries, n_keys)` or `None`.

        Raises:
            TypeError: If the mask is not boolean, or the cache holds another dtype.
            ValueError: If a shape does not fit, `value` comes without `key`, or a cache comes to a mechanism that
                works on whole sequences. The cache then holds what it held before.
        """
        query, key, value = self.complete(query, key, value)
        if cache is not None and not self.attention.caches:
            raise ValueError(
                f"cache must be None (in generate: use_cache=False), because {type(self.attention).__name__} works on "
                "whole sequences"
            )

        q = self._split(self.query_proj(query), self.n_heads)  # (batch, n_heads, n_queries, d_head)
        shared = self.key_proj is self.query_proj and key is query
        k = q if shared else self._split(self.key_proj(key), self.n_kv_heads)  # (batch, n_kv_heads, n_keys, d_head)
        v = self._split(self.value_proj(value), self.n_kv_heads)
        dropout = self.dropout if self.training else 0.0
        with undone_on_error(cache):
            if cache is not None:
                k, v = cache.append(k, v)
            heads, weights = self.attention.attend(
                q, k, v, mask, causal=causal, dropout=dropout, need_weights=need_weights
            )
        joined = heads.transpose(1, 2).flatten(-2)  # (batch, n_queries, d_model)
        return self.out_proj(joined), weights

    def _split(self, tokens: Tensor, n_heads: int) -> Tensor:
        """`(batch, tokens, n_heads * d_head)` to `(batch, n_heads, tokens, d_head)`."""
        # A view straight to (batch, n_heads, tokens, d_head) would mix tokens and features.
        return tokens.unflatten(-1, (n_heads, self.d_head)).transpose(1, 2)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"
