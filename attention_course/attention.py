"""Scaled dot-product attention, and the multi-head layer that any attention plugs into."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MOST_FOLDED = 256  # queries up to which a group's stand in line; beyond, copies of the keys weigh less than of the mask


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
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
        bias: Added to the scaled scores; same dtype, broadcastable to their shape.
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
    check_inputs(query, key, value, mask, bias)
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    if scale is None:
        scale = query.size(-1) ** -0.5

    if not need_weights:
        attn_mask = _merge(mask, bias, temperature, query.dim())
        output = F.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p=dropout, scale=scale / temperature
        )
        return output, None

    scores = query @ key.transpose(-2, -1) * scale  # (..., n_queries, n_keys)
    if bias is not None:
        scores = scores + bias
    weights = masked_softmax(scores / temperature, mask)
    return F.dropout(weights, dropout) @ value, weights


def grouped_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """As `scaled_dot_product_attention`, with groups of query heads that share a head of keys and values.

    Shazeer 2019, arXiv:1911.02150 (one head for all); Ainslie et al. 2023, arXiv:2305.13245. The queries of a group
    read the same keys, so they can stand in line as if they were queries of one head: keys and values are not copied
    for each of them. In decoding, where the copy would take longer than the attention, that is what is done.

    Args:
        query: `(batch, n_heads, n_queries, d_k)`.
        key: `(batch, n_kv_heads, n_keys, d_k)`; `n_kv_heads` divides `n_heads`, and neighbouring query heads share.
        value: `(batch, n_kv_heads, n_keys, d_v)`.
        mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`; `True` = may attend.
        scale: As for `scaled_dot_product_attention`.
        dropout: As for `scaled_dot_product_attention`.
        need_weights: As for `scaled_dot_product_attention`.

    Returns:
        The output `(batch, n_heads, n_queries, d_v)` and the weights `(batch, n_heads, n_queries, n_keys)` or `None`.

    Raises:
        TypeError: As `scaled_dot_product_attention`.
        ValueError: As `scaled_dot_product_attention`; if the numbers of heads do not divide.
    """
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise ValueError(f"{name} must have shape (batch, heads, tokens, features), got {tuple(tensor.shape)}")
    n_heads, n_kv_heads, n_queries = query.size(1), key.size(1), query.size(2)
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(f"key's heads must divide the query's, {n_heads}, got {n_kv_heads}")
    if mask is not None:
        _check_mask(mask, (*query.shape[:-1], key.size(-2)))
    options = {"scale": scale, "dropout": dropout, "need_weights": need_weights}
    group = n_heads // n_kv_heads
    if n_queries > MOST_FOLDED:
        key, value = _repeat_heads(key, n_heads), _repeat_heads(value, n_heads)
        return scaled_dot_product_attention(query, key, value, mask, **options)
    query = query.reshape(query.size(0), n_kv_heads, group * n_queries, query.size(3))
    mask = None if mask is None else _fold_mask(mask, n_heads, group, n_queries)
    output, weights = scaled_dot_product_attention(query, key, value, mask, **options)
    output = output.unflatten(2, (group, n_queries)).flatten(1, 2)
    return output, None if weights is None else weights.unflatten(2, (group, n_queries)).flatten(1, 2)


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
    _check_mask(mask, scores.shape)
    # The lowest finite number, not -inf: a row of nothing but -inf would be NaN in the forward
    # and the backward pass. The second fill turns that row's uniform weights into zeros.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)


class KVCache:
    """The keys and values of the tokens decoded so far, for one attention layer.

    It is written in place, into memory that doubles when it is full, so that a token costs no copy of those
    before it. That is for decoding: do not differentiate through it.
    """

    def __init__(self):
        self._n_tokens = 0
        self._key = self._value = None  # (batch, n_kv_heads, capacity, d_head)

    def __len__(self) -> int:
        """Number of tokens held."""
        return self._n_tokens

    @property
    def key(self) -> Tensor | None:
        """`(batch, n_kv_heads, n_tokens, d_head)`, or `None` while empty."""
        return None if self._key is None else self._key[..., : self._n_tokens, :]

    @property
    def value(self) -> Tensor | None:
        """`(batch, n_kv_heads, n_tokens, d_head)`, or `None` while empty."""
        return None if self._value is None else self._value[..., : self._n_tokens, :]

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the newest tokens' keys and values; return those of all tokens so far."""
        start, end = self._n_tokens, self._n_tokens + key.size(-2)
        if self._key is None or end > self._key.size(-2):
            self._key, self._value = self._grown(self.key, key, 2 * end), self._grown(self.value, value, 2 * end)
        self._key[..., start:end, :], self._value[..., start:end, :] = key, value
        self._n_tokens = end
        return self.key, self.value

    @staticmethod
    def _grown(held: Tensor | None, newest: Tensor, capacity: int) -> Tensor:
        grown = newest.new_empty(*newest.shape[:-2], capacity, newest.size(-1))
        if held is not None:
            grown[..., : held.size(-2), :] = held
        return grown


class MultiHeadAttention(nn.Module):
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
        attention: The mechanism: any `attention(query, key, value, mask, *, dropout, need_weights)`
            on `(batch, n_heads, tokens, d_head)` that returns `(output, weights)`. To one whose attribute
            `shared_query_key` is true, such as `LSHAttention`, the layer gives its queries as keys, too.

    Raises:
        ValueError: If the numbers do not divide each other, or fewer key-value heads than query heads are to
            share one projection with them.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        attention: Callable = scaled_dot_product_attention,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model = {d_model}, got {n_heads}")
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads must divide n_heads = {n_heads}, got {n_kv_heads}")
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.dropout = dropout
        self.attention = attention
        self.query_proj = nn.Linear(d_model, d_model, bias=bias)
        if getattr(attention, "shared_query_key", False):
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
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from `query` to `key` and `value`.

        Args:
            query: `(batch, n_queries, d_model)`.
            key: `(batch, n_keys, d_model)`; the query if left out (self-attention).
            value: `(batch, n_keys, d_model)`; the key if left out.
            mask: Boolean, broadcastable to `(batch, n_heads, n_queries, n_keys)`; `True` = may attend.
            need_weights: Whether to return the weights of every head.
            cache: Holds earlier tokens' keys and values. This call's are appended to it, and the
                queries attend to all of them: `n_keys` in `mask` counts the earlier ones too.

        Returns:
            The output `(batch, n_queries, d_model)`, and the weights
            `(batch, n_heads, n_queries, n_keys)` or `None`.

        Raises:
            ValueError: If a shape does not fit, or `value` comes without `key`.
        """
        if key is None and value is not None:
            raise ValueError("value came without key: give both, or key alone")
        key = query if key is None else key
        value = key if value is None else value
        for name, tokens in (("query", query), ("key", key), ("value", value)):
            if tokens.dim() != 3 or tokens.size(-1) != self.d_model:
                raise ValueError(f"{name} must have shape (batch, tokens, {self.d_model}), got {tuple(tokens.shape)}")

        q = self._split(self.query_proj(query), self.n_heads)  # (batch, n_heads, n_queries, d_head)
        shared = self.key_proj is self.query_proj and key is query
        k = q if shared else self._split(self.key_proj(key), self.n_kv_heads)  # (batch, n_kv_heads, n_keys, d_head)
        v = self._split(self.value_proj(value), self.n_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        attention = self.attention
        if self.n_kv_heads < self.n_heads:
            if attention is scaled_dot_product_attention:
                attention = grouped_query_attention
            else:
                k, v = (_repeat_heads(tokens, self.n_heads) for tokens in (k, v))

        dropout = self.dropout if self.training else 0.0
        heads, weights = attention(q, k, v, mask, dropout=dropout, need_weights=need_weights)
        joined = heads.transpose(1, 2).flatten(-2)  # (batch, n_queries, d_model)
        return self.out_proj(joined), weights

    def _split(self, tokens: Tensor, n_heads: int) -> Tensor:
        """`(batch, tokens, n_heads * d_head)` to `(batch, n_heads, tokens, d_head)`."""
        # A view straight to (batch, n_heads, tokens, d_head) would mix tokens and features.
        return tokens.unflatten(-1, (n_heads, self.d_head)).transpose(1, 2)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"


def _repeat_heads(tokens: Tensor, n_heads: int) -> Tensor:
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


def _merge(mask: Tensor | None, bias: Tensor | None, temperature: float, n_dims: int) -> Tensor | None:
    """One `attn_mask` for PyTorch's kernel: boolean, or additive where there is a bias; in all the dimensions.

    (With fewer dimensions than the queries, other than two, PyTorch takes a kernel that stores the weights.)
    """
    if bias is not None:
        bias = bias / temperature
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    return None if mask is None else mask[(None,) * (n_dims - mask.dim())]


def check_inputs(query, key, value, mask, bias):
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() < 2:
            raise ValueError(f"{name} must have shape (..., tokens, features), got {tuple(tensor.shape)}")
        if not tensor.is_floating_point() or tensor.dtype != query.dtype:
            raise TypeError(
                f"query, key and value must share one floating dtype, got {name} in {tensor.dtype}"
                f" and query in {query.dtype}"
            )
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"query and key must have the same d_k, got {query.size(-1)} in query and {key.size(-1)} in key"
        )
    if key.size(-2) != value.size(-2):
        raise ValueError(
            f"key and value must have the same n_keys, got {key.size(-2)} in key and {value.size(-2)} in value"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            "query, key and value must have the same leading (batch, heads) dimensions, got "
            f"{tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and {tuple(value.shape[:-2])}"
        )
    scores_shape = (*query.shape[:-1], key.size(-2))
    if mask is not None:
        _check_mask(mask, scores_shape)
    if bias is not None:
        if bias.dtype != query.dtype:
            raise TypeError(f"bias must have the dtype of the query, {query.dtype}, got {bias.dtype}")
        _check_broadcasts("bias", bias, scores_shape)


def _check_mask(mask: Tensor, scores_shape) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean with True = may attend, got {mask.dtype}; additive terms go in bias")
    _check_broadcasts("mask", mask, scores_shape)


def _check_broadcasts(name: str, tensor: Tensor, scores_shape) -> None:
    """The tensor may be stretched to the scores; it must not stretch them."""
    sizes = zip(reversed(tensor.shape), reversed(scores_shape), strict=False)
    if tensor.dim() > len(scores_shape) or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(f"{name} must broadcast to the scores' shape {tuple(scores_shape)}, got {tuple(tensor.shape)}")
