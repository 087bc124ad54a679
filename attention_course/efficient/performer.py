r"""Performer: positive random features whose products are, on average, softmax attention's exponentials.

.. math:: e^{q \cdot k} = \mathbb{E}_\omega\!\left[e^{\omega \cdot q - |q|^2/2}\; e^{\omega \cdot k - |k|^2/2}\right],
          \quad \omega \sim \mathcal{N}(0, I)

Choromanski et al. 2020, arXiv:2009.14794 (FAVOR+). With m features the error falls like `1 / sqrt(m)`, and grows
exponentially with the lengths of queries and keys.
"""

import torch
from torch import Tensor

from attention_course.efficient.inputs import hide, join, tiles, validate_self_attention, validate_weightless
from attention_course.efficient.running_sums import RunningSums
from attention_course.mechanism import Mechanism

TILE = 256  # tokens whose features are held at once


def orthogonal_gaussian(n_features: int, d_head: int, generator: torch.Generator | None = None) -> Tensor:
    """Directions `(n_features, d_head)`: each is normal, and `d_head` of them at a time are at right angles.

    Right angles lower the variance of the estimate and leave its mean.

    Args:
        n_features: Number of directions.
        d_head: Their dimension.
        generator: Source of randomness (on the CPU).
    """
    blocks = []
    for _ in range(-(-n_features // d_head)):
        gaussian = torch.randn(d_head, d_head, generator=generator, dtype=torch.float64)
        rotation, triangle = torch.linalg.qr(gaussian)
        rotation = rotation * triangle.diagonal().sign()  # without the signs not every rotation would be as likely
        lengths = torch.randn(d_head, d_head, generator=generator, dtype=torch.float64).norm(dim=1)
        blocks.append(lengths.unsqueeze(1) * rotation)
    return torch.cat(blocks)[:n_features].to(torch.get_default_dtype())


class PerformerAttention(Mechanism):
    """Softmax attention estimated in time and memory proportional to the number of tokens.

    Args:
        d_head: Width of a head's queries and keys.
        n_features: Number of random features; the error falls with its square root.
        causal: Whether a token sees itself and earlier ones only.
        generator: Source of the random directions (on the CPU).
    """

    caches = False

    def __init__(self, d_head: int, n_features: int, *, causal: bool = False, generator: torch.Generator | None = None):
        super().__init__()
        self.causal = causal
        self.register_buffer("directions", orthogonal_gaussian(n_features, d_head, generator))

    def redraw(self, generator: torch.Generator | None = None) -> None:
        """Draw new directions.

        Args:
            generator: Source of randomness (on the CPU); PyTorch's own if left out.
        """
        self.directions.copy_(orthogonal_gaussian(*self.directions.shape, generator))

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: As `LinearAttention`; or if `d_head` is not that of the directions.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        if query.size(-1) != self.directions.size(1):
            raise ValueError(f"query must have d_head = {self.directions.size(1)}, got {query.size(-1)}")
        attend = self._causal if self.causal else self._full
        return join(attend(query, key, value, mask), query.size(-2)), None

    def log_features(self, tokens: Tensor) -> Tensor:
        """Logarithms of the features of queries or keys, `(..., d_head)` to `(..., n_features)`."""
        # Half of the scale 1 / sqrt(d_head) goes to the queries, half to the keys.
        tokens = tokens * tokens.size(-1) ** -0.25
        return tokens @ self.directions.to(tokens.dtype).T - tokens.square().sum(-1, keepdim=True) / 2

    def _query_features(self, query: Tensor) -> Tensor:
        log_features = self.log_features(query)
        # What a query's features have in common cancels in the division: take out the largest, none overflows.
        return (log_features - log_features.detach().amax(-1, keepdim=True)).exp()

    def _full(self, query, key, value, mask):
        sums = _ScaledSums(value, len(self.directions))
        for k, v, seen in tiles(TILE, key, value, mask):
            sums.add(sums.features(self.log_features(k), seen), v)
        for q in query.split(TILE, dim=-2):
            yield sums.read(self._query_features(q))

    def _causal(self, query, key, value, mask):
        validate_self_attention(query, key)
        sums = _ScaledSums(value, len(self.directions))
        for q, (k, v, seen) in zip(query.split(TILE, -2), tiles(TILE, key, value, mask), strict=True):
            key_features = sums.features(self.log_features(k), seen)
            yield sums.add_and_read(self._query_features(q), key_features, v)


class _ScaledSums(RunningSums):
    """Running sums of exponentials, kept under the largest exponent so far: none overflows."""

    largest = None  # (batch, heads, 1, 1)

    def features(self, log_features: Tensor, mask: Tensor | None) -> Tensor:
        """Exponentials of new keys' log-features; what was summed under a smaller largest is scaled down."""
        largest = log_features.detach().amax((-2, -1), keepdim=True)
        if self.largest is not None:
            largest = torch.maximum(largest, self.largest)
            shrink = (self.largest - largest).exp()
            self.state, self.normaliser = self.state * shrink, self.normaliser * shrink
        self.largest = largest
        return hide((log_features - largest).exp(), mask)
