r"""Performer: positive random features whose products are, on average, softmax attention's exponentials.

.. math:: e^{q \cdot k} = \mathbb{E}_\omega\left[\phi_\omega(q)\, \phi_\omega(k)\right]

.. math:: \phi_\omega(x) = e^{\omega \cdot x - |x|^2/2}, \quad \omega \sim \mathcal{N}(0, I)

Choromanski et al. 2020, arXiv:2009.14794 (FAVOR+). With m features the error falls like `1 / sqrt(m)`, and grows
exponentially with the lengths of queries and keys.

Lesson: `chapters/approximations.ipynb`.
"""

import torch
from torch import Tensor

from attention_course.efficient.inputs import (
    hide,
    join,
    split_keys,
    validate_self_attention,
    validate_weightless,
)
from attention_course.efficient.linear import linear_attention
from attention_course.efficient.running_sums import CHUNK, RunningSums, divide, in_chunks
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import in_float32, wide
from attention_course.support.validation import validate_whole_number

TILE = 256  # tokens whose features are held at once


def performer_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    directions: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """The definition: linear attention on random features. It overflows for long keys, and its cost is quadratic."""

    def features(tokens):
        return log_features(tokens, directions).exp()

    return linear_attention(query, key, value, mask, causal=causal, feature_map=features)


def log_features(tokens: Tensor, directions: Tensor) -> Tensor:
    """Logarithms of the features of queries or keys, `(..., d_head)` to `(..., n_features)`."""
    # Half of the scale 1 / sqrt(d_head) goes to the queries, half to the keys.
    tokens = tokens * tokens.size(-1) ** -0.25
    return tokens @ directions.to(tokens.dtype).T - tokens.square().sum(-1, keepdim=True) / 2


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

    Raises:
        ValueError: If `d_head` or `n_features` is no whole number of 1 or more.
    """

    caches = False

    def __init__(self, d_head: int, n_features: int, *, causal: bool = False, generator: torch.Generator | None = None):
        super().__init__()
        validate_whole_number("d_head", d_head, at_least=1)
        validate_whole_number("n_features", n_features, at_least=1)
        self.causal = causal
        self.register_buffer("directions", orthogonal_gaussian(n_features, d_head, generator))

    def redraw(self, generator: torch.Generator | None = None) -> None:
        """Draw new directions.

        Args:
            generator: Source of randomness (on the CPU); PyTorch's own if left out.
        """
        self.directions.copy_(orthogonal_gaussian(*self.directions.shape, generator))

    @in_float32
    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: As `LinearAttention`; or if `d_head` is not that of the directions.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        if query.size(-1) != self.directions.size(1):
            raise ValueError(f"query must have d_head = {self.directions.size(1)}, got {query.size(-1)}")
        attend = self._causal if self.causal else self._full
        return join(attend(query, key, value, mask), query), None

    def log_features(self, tokens: Tensor) -> Tensor:
        """As the function of that name, in float32 at least."""
        return log_features(wide(tokens), self.directions)

    def _query_features(self, query: Tensor) -> Tensor:
        log_features = self.log_features(query)
        # What a query's features have in common cancels in the division: take out the largest, none overflows.
        return (log_features - log_features.detach().amax(-1, keepdim=True)).exp()

    def _full(self, query, key, value, mask):
        sums = _SumsOfExponentials(value, len(self.directions))
        for k, v, seen in split_keys(TILE, key, value, mask):
            sums.add(hide(self.log_features(k), seen, -torch.inf), v)
        for q in query.split(TILE, dim=-2):
            yield sums.read(self._query_features(q))

    def _causal(self, query, key, value, mask):
        validate_self_attention(query, key)
        sums = _SumsOfExponentials(value, len(self.directions))
        for q, (k, v, seen) in zip(query.split(TILE, -2), split_keys(TILE, key, value, mask), strict=True):
            yield sums.add_and_read(self._query_features(q), hide(self.log_features(k), seen, -torch.inf), v)


class _SumsOfExponentials(RunningSums):
    """Running sums whose key features are given by their logarithms; those of hidden keys are -inf.

    They are kept divided by the largest exponential so far, so that none overflows. As with flash attention's running
    maximum, that is the largest of what may be seen: what a query finds depends on no later key, and on no hidden one.
    """

    def __init__(self, like: Tensor, d_features: int):
        super().__init__(like, d_features)
        # (batch, heads, 1, 1). The lowest finite number, not -inf, whose difference from itself is no number.
        self.largest = torch.full_like(self.normaliser[..., :1, :], torch.finfo(self.normaliser.dtype).min)

    def add(self, log_features: Tensor, value: Tensor) -> None:
        largest = torch.cat([self.largest, _largest(log_features)], dim=-2).amax(-2, keepdim=True)
        shrink = (self.largest - largest).exp()
        self.state, self.normaliser, self.largest = self.state * shrink, self.normaliser * shrink, largest
        super().add((log_features - largest).exp(), value)

    def add_and_read(self, query_features: Tensor, log_features: Tensor, value: Tensor) -> Tensor:
        n_tokens = value.size(-2)
        queries, values, logs = in_chunks(query_features), in_chunks(wide(value)), in_chunks(log_features, -torch.inf)
        own = _largest(logs)  # (batch, heads, chunks, CHUNK, 1)
        keys = (logs - own).exp()
        so_far = torch.cat([self.largest, own.flatten(2, 3)], dim=-2).cummax(-2).values
        before, up_to = so_far[:, :, :-1:CHUNK].unsqueeze(3), so_far[:, :, 1:].unflatten(2, own.shape[2:4])
        end = up_to[:, :, :, -1:]  # of a chunk: (batch, heads, chunks, 1, 1)

        share = (own - end).exp()
        transposed = keys.transpose(-2, -1)
        shrink = (before - end).exp()
        state, self.state = _sums_before(transposed @ (values * share), self.state, shrink)
        normaliser, self.normaliser = _sums_before(transposed @ share, self.normaliser, shrink)
        self.largest = so_far[:, :, -1:]

        scores = queries @ transposed * (own.transpose(-2, -1) - up_to).exp().tril()
        queries = queries * (before - up_to).exp()
        found = queries @ state + scores @ values
        weight = queries @ normaliser + scores.sum(-1, keepdim=True)
        return divide(found, weight).flatten(2, 3)[:, :, :n_tokens]


def _sums_before(own: Tensor, start: Tensor, shrink: Tensor) -> tuple[Tensor, Tensor]:
    """From each chunk's own sum, `(batch, heads, chunks, ...)`: what stood before each, and after all."""
    sums = [start]
    for chunk, less in zip(own.unbind(2), shrink.unbind(2), strict=True):
        sums.append(sums[-1] * less + chunk)
    return torch.stack(sums, dim=2)[:, :, :-1], sums[-1]


def _largest(log_features: Tensor) -> Tensor:
    """The largest of each token's, `(..., 1)`; a finite number for a hidden token too."""
    return log_features.detach().amax(-1, keepdim=True).clamp_min(torch.finfo(log_features.dtype).min)
