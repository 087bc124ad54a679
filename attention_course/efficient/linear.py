r"""Linear attention: the softmax's kernel replaced by a product of features, so that sums come before queries.

.. math:: \text{output}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)}

Katharopoulos et al. 2020, arXiv:2006.16236. The sums are `(d_features, d_v)` whatever the number of tokens, each
head's its own. It is another function than softmax attention, not an approximation to it.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.efficient.inputs import check, check_self_attention, hide, join, tiles

TILE = 512  # tokens whose features are held at once: they fit a core's cache
CHUNK = 64  # tokens that see each other through a small matrix, and earlier ones through the sums


def elu_plus_one(tokens: Tensor) -> Tensor:
    """Positive features: `x + 1` above 0, `exp(x)` below."""
    return tokens.clamp(max=0).exp() + tokens.relu()  # twice as fast as F.elu(tokens) + 1


class RunningSums:
    """All that linear attention needs to know of the keys and values so far: one token in, one token out.

    Args:
        like: The values, for their batch, heads, width and dtype.
        d_features: Number of features.

    Attributes:
        state: Sum of `phi(k) v^T`, `(batch, heads, d_features, d_v)`.
        normaliser: Sum of `phi(k)`, `(batch, heads, d_features, 1)`.
    """

    def __init__(self, like: Tensor, d_features: int):
        self.state = like.new_zeros(*like.shape[:-2], d_features, like.size(-1))
        self.normaliser = like.new_zeros(*like.shape[:-2], d_features, 1)

    def add(self, key_features: Tensor, value: Tensor) -> None:
        """Add tokens: features `(batch, heads, tokens, d_features)`, values `(batch, heads, tokens, d_v)`."""
        transposed = key_features.transpose(-2, -1)
        self.state = self.state + transposed @ value
        self.normaliser = self.normaliser + transposed.sum(-1, keepdim=True)

    def read(self, query_features: Tensor) -> Tensor:
        """What queries `(batch, heads, tokens, d_features)` find: `(batch, heads, tokens, d_v)`."""
        return _divide(query_features @ self.state, query_features @ self.normaliser)

    def add_and_read(self, query_features: Tensor, key_features: Tensor, value: Tensor) -> Tensor:
        """Add tokens; what their queries find in all up to their own place, `(batch, heads, tokens, d_v)`."""
        n_tokens = value.size(-2)
        queries, keys, values = (_in_chunks(tokens) for tokens in (query_features, key_features, value))
        transposed = keys.transpose(-2, -1)  # (batch, heads, chunks, d_features, CHUNK)
        state, self.state = _sums_before(transposed @ values, self.state)
        normaliser, self.normaliser = _sums_before(transposed.sum(-1, keepdim=True), self.normaliser)
        scores = (queries @ transposed).tril()  # (batch, heads, chunks, CHUNK, CHUNK)
        found = queries @ state + scores @ values
        weight = queries @ normaliser + scores.sum(-1, keepdim=True)
        return _divide(found, weight).flatten(2, 3)[:, :, :n_tokens]


def _in_chunks(tokens: Tensor) -> Tensor:
    """`(batch, heads, chunks, CHUNK, features)`, with tokens of zeros at the end: they add nothing."""
    filler = -tokens.size(-2) % CHUNK
    return (F.pad(tokens, (0, 0, 0, filler)) if filler else tokens).unflatten(2, (-1, CHUNK))


def _sums_before(own: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """From each chunk's own sum, `(batch, heads, chunks, ...)`: what stood before each, and after all."""
    up_to = own.cumsum(2) + start.unsqueeze(2)
    return up_to - own, up_to[:, :, -1]


def _divide(found: Tensor, weight: Tensor) -> Tensor:
    """Weighted sums by their weights; zeros where there is no weight."""
    return found / weight.clamp_min(torch.finfo(weight.dtype).tiny)


class LinearAttention(nn.Module):
    """Attention in time and memory proportional to the number of tokens.

    Args:
        causal: Whether a token sees itself and earlier ones only.
        feature_map: From `(..., d_head)` to positive features `(..., d_features)`.
    """

    def __init__(self, *, causal: bool = False, feature_map: Callable[[Tensor], Tensor] = elu_plus_one):
        super().__init__()
        self.causal = causal
        self.feature_map = feature_map

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout or a mask that differs from query to query are asked for, or a causal
                layer gets keys of other tokens.
        """
        check(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        attend = self._causal if self.causal else self._full
        return join(attend(query, key, value, mask), query.size(-2)), None

    def _full(self, query, key, value, mask):
        sums = self._no_sums(key, value)
        for k, v, seen in tiles(TILE, key, value, mask):
            sums.add(hide(self.feature_map(k), seen), v)
        for q in query.split(TILE, dim=-2):
            yield sums.read(self.feature_map(q))

    def _causal(self, query, key, value, mask):
        check_self_attention(query, key)
        sums = self._no_sums(key, value)
        for q, (k, v, seen) in zip(query.split(TILE, -2), tiles(TILE, key, value, mask), strict=True):
            yield sums.add_and_read(self.feature_map(q), hide(self.feature_map(k), seen), v)

    def _no_sums(self, key, value):
        return RunningSums(value, self.feature_map(key[..., :1, :]).size(-1))
