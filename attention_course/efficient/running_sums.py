"""The fixed-size state that makes causal linear attention a recurrent network, read token by token or in chunks.

Lesson: `chapters/efficient.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.support.autocast import wide

CHUNK = 64  # tokens that see each other through a small matrix, and earlier ones through the sums


class RunningSums:
    """All that linear attention needs to know of the keys and values so far: one token in, one token out.

    Sums are kept, and read, in float32 at least.

    Args:
        like: The values, for their batch, heads, width and dtype.
        d_features: Number of features.

    Attributes:
        state: Sum of `phi(k) v^T`, `(batch, heads, d_features, d_v)`.
        normaliser: Sum of `phi(k)`, `(batch, heads, d_features, 1)`.
    """

    def __init__(self, like: Tensor, d_features: int):
        zeros = wide(like[..., :0, :]).new_zeros
        self.state = zeros(*like.shape[:-2], d_features, like.size(-1))
        self.normaliser = zeros(*like.shape[:-2], d_features, 1)

    def add(self, key_features: Tensor, value: Tensor) -> None:
        """Add tokens: features `(batch, heads, tokens, d_features)`, values `(batch, heads, tokens, d_v)`."""
        transposed = wide(key_features).transpose(-2, -1)
        self.state = self.state + transposed @ wide(value)
        self.normaliser = self.normaliser + transposed.sum(-1, keepdim=True)

    def read(self, query_features: Tensor) -> Tensor:
        """What queries `(batch, heads, tokens, d_features)` find: `(batch, heads, tokens, d_v)`."""
        query_features = wide(query_features)
        return divide(query_features @ self.state, query_features @ self.normaliser)

    def add_and_read(self, query_features: Tensor, key_features: Tensor, value: Tensor) -> Tensor:
        """Add tokens; what their queries find in all up to their own place, `(batch, heads, tokens, d_v)`."""
        n_tokens = value.size(-2)
        queries, keys, values = (in_chunks(wide(tokens)) for tokens in (query_features, key_features, value))
        transposed = keys.transpose(-2, -1)  # (batch, heads, chunks, d_features, CHUNK)
        state, self.state = _sums_before(transposed @ values, self.state)
        normaliser, self.normaliser = _sums_before(transposed.sum(-1, keepdim=True), self.normaliser)
        scores = (queries @ transposed).tril()  # (batch, heads, chunks, CHUNK, CHUNK)
        found = queries @ state + scores @ values
        weight = queries @ normaliser + scores.sum(-1, keepdim=True)
        return divide(found, weight).flatten(2, 3)[:, :, :n_tokens]


def in_chunks(tokens: Tensor, fill: float = 0.0) -> Tensor:
    """`(batch, heads, chunks, CHUNK, features)`, filled up at the end."""
    n_chunks = -(-tokens.size(2) // CHUNK)
    filler = n_chunks * CHUNK - tokens.size(2)
    return (F.pad(tokens, (0, 0, 0, filler), value=fill) if filler else tokens).unflatten(2, (n_chunks, CHUNK))


def _sums_before(own: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """From each chunk's own sum, `(batch, heads, chunks, ...)`: what stood before each, and after all."""
    # Only ever added up. To take a chunk's own sum off again would leave its rounding: a large value's say in the past.
    sums = torch.cat([start.unsqueeze(2), own], dim=2).cumsum(2)
    return sums[:, :, :-1], sums[:, :, -1]


def divide(found: Tensor, weight: Tensor) -> Tensor:
    """Weighted sums by their weights; zeros, with gradients of zero, where there is no weight."""
    return found / weight.masked_fill(weight == 0, 1.0)
