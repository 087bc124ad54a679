"""The scoring functions that came before the scaled dot product.

Lesson: `chapters/scores.ipynb`.
"""

from torch import Tensor, nn

from attention_course.attention import masked_softmax


class AdditiveAttention(nn.Module):
    r"""Score each pair with a small network (Bahdanau et al. 2014, arXiv:1409.0473).

    .. math:: \operatorname{score}(q, k) = v^\top \tanh(W_q q + W_k k)

    Args:
        d_query: Width of the queries.
        d_key: Width of the keys.
        d_hidden: Width of the hidden layer.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int):
        super().__init__()
        self.query_proj = nn.Linear(d_query, d_hidden, bias=False)
        self.key_proj = nn.Linear(d_key, d_hidden, bias=False)
        self.energy = nn.Linear(d_hidden, 1, bias=False)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        *,
        projected_key: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attend from `query` to `key` and `value`.

        Args:
            query: `(..., n_queries, d_query)`.
            key: `(..., n_keys, d_key)`.
            value: `(..., n_keys, d_v)`.
            mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
            projected_key: `key_proj(key)`, for a decoder that asks one query at a time about
                keys that never change.

        Returns:
            The output `(..., n_queries, d_v)` and the weights `(..., n_queries, n_keys)`.

        Raises:
            TypeError: If the mask is not boolean.
            ValueError: If a width, the number of keys or the mask does not fit.
        """
        _validate(query, key, value, self.query_proj.in_features, self.key_proj.in_features)
        if projected_key is None:
            projected_key = self.key_proj(key)
        hidden = self.query_proj(query).unsqueeze(-2) + projected_key.unsqueeze(-3)
        scores = self.energy(hidden.tanh()).squeeze(-1)  # (..., n_queries, n_keys)
        weights = masked_softmax(scores, mask)
        return weights @ value, weights


class LuongAttention(nn.Module):
    r"""The three scores of Luong et al. 2015 (arXiv:1508.04025).

    .. math::
        \text{dot: } q^\top k \qquad \text{general: } q^\top W k \qquad
        \text{concat: } v^\top \tanh(W [q; k])

    Args:
        d_query: Width of the queries.
        d_key: Width of the keys; `dot` needs it equal to `d_query`.
        score: `"dot"`, `"general"` or `"concat"`.

    Raises:
        ValueError: If `score` is none of the three, or `dot` is given two widths.
    """

    def __init__(self, d_query: int, d_key: int, score: str = "general"):
        super().__init__()
        if score not in ("dot", "general", "concat"):
            raise ValueError(f"score must be 'dot', 'general' or 'concat', got {score!r}")
        if score == "dot" and d_query != d_key:
            raise ValueError(f"dot needs d_query = d_key, got {d_query} and {d_key}")
        self.d_query, self.d_key, self.score = d_query, d_key, score
        if score == "general":
            self.weight = nn.Linear(d_key, d_query, bias=False)
        elif score == "concat":
            # W [q; k] = W_q q + W_k k: the concatenation never has to be made.
            self.additive = AdditiveAttention(d_query, d_key, d_query)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from `query` to `key` and `value`.

        Args:
            query: `(..., n_queries, d_query)`.
            key: `(..., n_keys, d_key)`.
            value: `(..., n_keys, d_v)`.
            mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.

        Returns:
            The output `(..., n_queries, d_v)` and the weights `(..., n_queries, n_keys)`.

        Raises:
            TypeError: If the mask is not boolean.
            ValueError: If a width, the number of keys or the mask does not fit.
        """
        if self.score == "concat":
            return self.additive(query, key, value, mask)
        _validate(query, key, value, self.d_query, self.d_key)
        if self.score == "general":
            key = self.weight(key)
        weights = masked_softmax(query @ key.transpose(-2, -1), mask)
        return weights @ value, weights

    def extra_repr(self) -> str:
        return f"d_query={self.d_query}, d_key={self.d_key}, score={self.score!r}"


def _validate(query: Tensor, key: Tensor, value: Tensor, d_query: int, d_key: int) -> None:
    for name, tensor, width in (("query", query, d_query), ("key", key, d_key)):
        if tensor.dim() < 2 or tensor.size(-1) != width:
            raise ValueError(f"{name} must have shape (..., tokens, {width}), got {tuple(tensor.shape)}")
    if value.dim() < 2 or value.size(-2) != key.size(-2):
        raise ValueError(
            f"key and value must have the same n_keys, got shapes {tuple(key.shape)} and {tuple(value.shape)}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            "query, key and value must have the same leading dimensions, got "
            f"{tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and {tuple(value.shape[:-2])}"
        )
