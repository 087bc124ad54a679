"""Attention with any score and any mask that a small function can state, through PyTorch's FlexAttention.

Dong et al. 2024, arXiv:2412.05496. On a GPU the functions are compiled into the fused kernel: no matrix of scores or
biases is stored, and blocks of keys that no query of a block may see are skipped. Elsewhere, where PyTorch's own form
has no gradient or is traced anew for each length, the functions are applied to the whole matrix of scores.

Lesson: `chapters/kernels.ipynb`.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from attention_course.attention import masked_softmax
from attention_course.grouped import repeat_heads
from attention_course.mechanism import Mechanism
from attention_course.support.validation import validate_inputs

try:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
except ImportError:  # before PyTorch 2.5
    flex_attention = None


class FlexAttention(Mechanism):
    """Exact attention whose scores and mask are functions of positions.

    Both functions get integer tensors: the numbers of batch, head, query and key. Positions count from 0 at the first
    key, and the last query stands where the last key does, as in `causal_mask`. They should be made of PyTorch's
    elementwise operations and indexing, as in `score - slopes[head] * (query - key).abs()`.

    Args:
        score_mod: `score_mod(score, batch, head, query, key)`, the score to take in place of the scaled product.
        mask_mod: `mask_mod(batch, head, query, key)`, `True` = may attend.
        causal: Whether a query sees its own position and earlier ones only.

    Raises:
        ImportError: If the installed PyTorch has no FlexAttention.
    """

    def __init__(self, score_mod: Callable | None = None, mask_mod: Callable | None = None, *, causal: bool = False):
        super().__init__()
        if flex_attention is None:
            raise ImportError(f"FlexAttention needs PyTorch 2.5 or later, got {torch.__version__}")
        self.score_mod, self.mask_mod, self.causal = score_mod, mask_mod, causal
        self._kept_for = self._kept = None

    def forward(self, query, key, value, mask=None, *, causal=False, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        The future is hidden if this call or the mechanism is `causal`.

        Raises:
            TypeError: As `scaled_dot_product_attention`.
            ValueError: As `scaled_dot_product_attention`; if weights or dropout are asked for, or there are more
                queries than keys.
        """
        validate_inputs(query, key, value, mask)
        if query.dim() != 4:
            raise ValueError(f"query must have shape (batch, heads, tokens, d_head), got {tuple(query.shape)}")
        if need_weights or dropout:
            raise ValueError(f"need_weights must be False and dropout 0, got {need_weights} and {dropout}")
        if query.size(-2) > key.size(-2):
            raise ValueError(f"key must hold at least as many tokens as query, {query.size(-2)}, got {key.size(-2)}")
        shape = (*query.shape[:-1], key.size(-2))  # of the scores
        causal = causal or self.causal
        score, allowed = self._functions(shape, mask, causal)
        if not query.is_cuda:
            return _materialised(query, key, value, score, allowed), None
        blocks = None if allowed is None else self._blocks(allowed, shape, mask, causal, query.device)
        return _compiled()(query, key, value, score_mod=score, block_mask=blocks), None

    def attend(self, query, key, value, mask=None, **options):
        """As `Mechanism.attend`, without a matrix for the future."""
        key, value = (repeat_heads(tokens, query.size(1)) for tokens in (key, value))
        return self(query, key, value, mask, **options)

    def _blocks(self, allowed: Callable, shape, mask: Tensor | None, causal: bool, device):
        """Which blocks of keys each block of queries may see: made from the whole matrix.

        Those of the future alone are kept for the next call. What a `mask_mod` reads, as the numbers of documents, may
        be other by then.
        """
        if mask is not None or self.mask_mod is not None:
            return create_block_mask(allowed, *shape, device=device)
        wanted = shape, causal, device
        if self._kept_for != wanted:
            blocks = create_block_mask(allowed, 1, 1, *shape[2:], device=device)  # batch and heads alike
            self._kept_for, self._kept = wanted, blocks
        return self._kept

    def _functions(self, shape, mask: Tensor | None, causal: bool) -> tuple[Callable | None, Callable | None]:
        """Score and mask as functions of the query's number, where positions begin with that of the first query."""
        first = shape[-1] - shape[-2]
        score_mod, conditions = None, []
        if self.score_mod is not None:

            def score_mod(score, batch, head, query, key):
                return self.score_mod(score, batch, head, query + first, key)

        if self.mask_mod is not None:
            conditions.append(lambda batch, head, query, key: self.mask_mod(batch, head, query + first, key))
        if causal:
            conditions.append(lambda batch, head, query, key: query + first >= key)
        if mask is not None:
            whole = mask.expand(shape)  # a view
            conditions.append(lambda batch, head, query, key: whole[batch, head, query, key])
        if not conditions:
            return score_mod, None

        def allowed(batch, head, query, key):
            seen = conditions[0](batch, head, query, key)
            for condition in conditions[1:]:
                seen = seen & condition(batch, head, query, key)
            return seen

        return score_mod, allowed


@cache
def _compiled() -> Callable:
    # fullgraph: after too many shapes an error, where otherwise the materialised form would take over in silence.
    return torch.compile(flex_attention, fullgraph=True)


def _materialised(query: Tensor, key: Tensor, value: Tensor, score: Callable | None, allowed: Callable | None):
    scores = (query * query.size(-1) ** -0.5) @ key.transpose(-2, -1)
    batch, head, row, column = (torch.arange(size, device=query.device) for size in scores.shape)
    numbers = batch[:, None, None, None], head[:, None, None], row[:, None], column
    if score is not None:
        scores = score(scores, *numbers)
    mask = scores != -torch.inf  # where a score_mod hides
    if allowed is not None:
        mask = mask & torch.as_tensor(allowed(*numbers))
    return masked_softmax(scores, mask).to(value.dtype) @ value
