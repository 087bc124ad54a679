r"""Linear attention: the softmax's kernel replaced by a product of features, so that sums come before queries.

.. math:: \text{output}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)}

Katharopoulos et al. 2020, arXiv:2006.16236. The sums are `(d_features, d_v)` whatever the number of tokens, each
head's its own. It is another function than softmax attention, not an approximation to it.

Lesson: `chapters/efficient.ipynb`.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.efficient.inputs import hide, join, split_keys, validate_self_attention, validate_weightless
from attention_course.efficient.running_sums import RunningSums
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import in_float32

TILE = 512  # tokens whose features are held at once: they fit a core's cache


def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    feature_map: Callable[[Tensor], Tensor] = lambda tokens: F.elu(tokens) + 1,
) -> tuple[Tensor, Tensor]:
    """The definition, with all its weights, in time and memory that grow with the square of the number of tokens."""
    weights = feature_map(query) @ feature_map(key).transpose(-2, -1)  # (..., n_queries, n_keys)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    if causal:
        weights = weights.tril()
    total = weights.sum(-1, keepdim=True)  # (..., n_queries, 1)
    weights = weights / total.masked_fill(total == 0, 1.0)  # zeros where nothing is seen
    return weights @ value, weights


def elu_plus_one(tokens: Tensor) -> Tensor:
    """Positive features: `x + 1` above 0, `exp(x)` below."""
    return _EluPlusOne.apply(tokens)


class _EluPlusOne(torch.autograd.Function):
    """`F.elu(x) + 1` in half the time: with fewer passes over memory, and a derivative that is the result up to 1."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tokens):
        return tokens.clamp(max=0).exp_().add_(tokens.relu())

    @staticmethod
    def setup_context(ctx, inputs, features):
        ctx.save_for_backward(features)

    @staticmethod
    def backward(ctx, grad_features):
        (features,) = ctx.saved_tensors
        return grad_features * features.clamp(max=1)


class LinearAttention(Mechanism):
    """Attention in time and memory proportional to the number of tokens.

    Args:
        causal: Whether a token sees itself and earlier ones only.
        feature_map: From `(..., d_head)` to positive features `(..., d_features)`. What they are summed to is float32
            at least, whatever the tokens are.
    """

    caches = False

    def __init__(self, *, causal: bool = False, feature_map: Callable[[Tensor], Tensor] = elu_plus_one):
        super().__init__()
        self.causal = causal
        self.feature_map = feature_map

    @in_float32
    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout or a mask that differs from query to query are asked for, or a causal
                layer gets keys of other tokens.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        attend = self._causal if self.causal else self._full
        return join(attend(query, key, value, mask), query), None

    def _full(self, query, key, value, mask):
        sums = self._no_sums(key, value)
        for k, v, seen in split_keys(TILE, key, value, mask):
            sums.add(hide(self.feature_map(k), seen), v)
        for q in query.split(TILE, dim=-2):
            yield sums.read(self.feature_map(q))

    def _causal(self, query, key, value, mask):
        validate_self_attention(query, key)
        sums = self._no_sums(key, value)
        for q, (k, v, seen) in zip(query.split(TILE, -2), split_keys(TILE, key, value, mask), strict=True):
            yield sums.add_and_read(self.feature_map(q), hide(self.feature_map(k), seen), v)

    def _no_sums(self, key, value):
        return RunningSums(value, self.feature_map(key[..., :1, :]).size(-1))
