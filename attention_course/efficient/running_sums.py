"""The fixed-size state that makes causal linear attention a recurrent network, read token by token or in chunks."""

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 64  # tokens that see each other through a small matrix, and earlier ones through the sums


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
