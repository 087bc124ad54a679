r"""Exact attention that never stores the matrix of weights: tiles, an online softmax, and a backward pass of its own.

What is computed is, in one line each,

    weights = (query @ key.transpose(-2, -1) / math.sqrt(d_k)).masked_fill(~mask, -math.inf).softmax(-1)
    output = weights @ value

Dao et al. 2022, arXiv:2205.14135, find it without the matrix. For each query the largest score so far `m`, the sum `l`
and the output `o` are carried from tile to tile of keys:

.. math:: m' = \max(m, \max_j s_j), \quad l' = e^{m - m'} l + \sum_j e^{s_j - m'}, \quad
          o' = e^{m - m'} o + \sum_j e^{s_j - m'} v_j

and at the end the output is `o / l`. Backward, each tile's weights are computed anew from `m + log l`. The loops over
tiles are in `tiles`.

Lesson: `chapters/flash.ipynb`.
"""

import torch
from torch import Tensor

from attention_course.efficient.tiles import attend_block, differentiate_block
from attention_course.grouped import repeat_heads
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import in_float32
from attention_course.support.validation import validate_inputs


@in_float32
def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> tuple[Tensor, None]:
    """As `scaled_dot_product_attention`, in memory proportional to the number of tokens, forward and backward.

    Args:
        query: `(..., n_queries, d_k)`; sums are kept in float32 at least.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
        causal: Whether later keys are hidden, besides those that the mask hides; the last query stands where the last
            key does, as in `causal_mask`.
        dropout: Must be 0.
        need_weights: Must be `False`.

    Raises:
        TypeError: As `scaled_dot_product_attention`.
        ValueError: As `scaled_dot_product_attention`; if weights or dropout are asked for, or there are more queries
            than keys and these are causal.
    """
    validate_inputs(query, key, value, mask)
    if need_weights or dropout:
        given = f"got {need_weights} and {dropout}"
        raise ValueError(f"need_weights must be False and dropout 0: the weights are never stored, {given}")
    if causal and query.size(-2) > key.size(-2):
        raise ValueError(f"key must hold at least as many tokens as query, {query.size(-2)}, got {key.size(-2)}")
    return _Flash.apply(query, key, value, mask, causal), None


class FlashAttention(Mechanism):
    """`flash_attention` as a mechanism, which hides the future tile by tile: no mask is made for it.

    Args:
        causal: Whether a token sees itself and earlier ones only.
    """

    def __init__(self, *, causal: bool = False):
        super().__init__()
        self.causal = causal

    def forward(self, query, key, value, mask=None, *, causal=False, dropout=0.0, need_weights=False):
        """As `flash_attention`; the future is hidden if this call or the mechanism is `causal`."""
        causal = causal or self.causal
        return flash_attention(query, key, value, mask, causal=causal, dropout=dropout, need_weights=need_weights)

    def attend(self, query, key, value, mask=None, **options):
        """As `Mechanism.attend`, without a matrix for the future."""
        key, value = (repeat_heads(tokens, query.size(1)) for tokens in (key, value))
        return self(query, key, value, mask, **options)

    def extra_repr(self) -> str:
        return f"causal={self.causal}"


class _Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, mask, causal):
        output, log_sum = attend_block(query, key, value, mask, causal=causal)
        ctx.save_for_backward(query, key, value, mask, output, log_sum)
        ctx.causal = causal
        return output.to(query.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        query, key, value, mask, output, log_sum = ctx.saved_tensors
        # The softmax's own gradient needs, for each query, its weights' mean of what is to be differentiated.
        mean = (grad_output * output).sum(-1, keepdim=True)
        grads = differentiate_block(query, key, value, grad_output, log_sum, mean, mask, causal=ctx.causal)
        return *(grad.to(query.dtype) for grad in grads), None, None
