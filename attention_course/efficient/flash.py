r"""Exact attention that never stores the matrix of weights: tiles, an online softmax, and a backward pass of its own.

Dao et al. 2022, arXiv:2205.14135; the online softmax is Milakov & Gimelshein's, arXiv:1805.02867. For each query the
largest score so far `m`, the sum `l` and the output `o` are carried from tile to tile of keys:

.. math:: m' = \max(m, \max_j s_j), \quad l' = e^{m - m'} l + \sum_j e^{s_j - m'}, \quad
          o' = e^{m - m'} o + \sum_j e^{s_j - m'} v_j

and at the end the output is `o / l`. Backward, each tile's weights are computed anew from `m + log l`.
"""

import torch
from torch import Tensor

from attention_course.efficient.inputs import validate_self_attention
from attention_course.validation import validate_inputs

TILE = 512  # queries and keys: the tile of scores of a head fits a core's cache
CAUSAL_TILE = 256  # smaller tiles skip more of the future


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
        query: `(batch, heads, n_queries, d_k)`.
        key: `(batch, heads, n_keys, d_k)`.
        value: `(batch, heads, n_keys, d_v)`.
        mask: Boolean, broadcastable to `(batch, heads, n_queries, n_keys)`; `True` = may attend.
        causal: Whether a query sees its own key and earlier ones only; the keys are then the queries' tokens.
        dropout: Must be 0.
        need_weights: Must be `False`.

    Raises:
        TypeError: As `scaled_dot_product_attention`.
        ValueError: As `scaled_dot_product_attention`; if weights or dropout are asked for.
    """
    validate_inputs(query, key, value, mask)
    if need_weights or dropout:
        given = f"got {need_weights} and {dropout}"
        raise ValueError(f"need_weights must be False and dropout 0: the weights are never stored, {given}")
    if causal:
        validate_self_attention(query, key)
    return _Flash.apply(query, key, value, mask, causal), None


class _Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, mask, causal):
        output = value.new_empty(*query.shape[:-1], value.size(-1))
        log_sum = query.new_empty(query.shape[:-1])  # m + log l of each query
        for rows in _tiles(query.size(-2), causal):
            q = query[..., rows, :] * query.size(-1) ** -0.5
            largest = q.new_full((*q.shape[:-1], 1), torch.finfo(q.dtype).min)
            total, out = torch.zeros_like(largest), torch.zeros_like(output[..., rows, :])
            for columns in _seen_tiles(rows, key.size(-2), causal):
                scores = _scores(q, key, mask, rows, columns, causal)
                new_largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
                weights = scores.sub_(new_largest).exp_()
                shrink = (largest - new_largest).exp_()
                total = total.mul_(shrink).add_(weights.sum(-1, keepdim=True))
                out = out.mul_(shrink).add_(weights @ value[..., columns, :])
                largest = new_largest
            output[..., rows, :] = out / total.clamp_min(torch.finfo(total.dtype).tiny)  # 0 where nothing was seen
            log_sum[..., rows] = torch.where(total > 0, largest + total.log(), 0.0).squeeze(-1)
        ctx.save_for_backward(query, key, value, mask, output, log_sum)
        ctx.causal = causal
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        query, key, value, mask, output, log_sum = ctx.saved_tensors
        scale = query.size(-1) ** -0.5
        grad_query, grad_key, grad_value = (torch.zeros_like(tokens) for tokens in (query, key, value))
        # The softmax's own gradient needs, for each query, its weights' mean of what is to be differentiated.
        mean = (grad_output * output).sum(-1, keepdim=True)
        for rows in _tiles(query.size(-2), ctx.causal):
            q, grad = query[..., rows, :] * scale, grad_output[..., rows, :]
            for columns in _seen_tiles(rows, key.size(-2), ctx.causal):
                scores = _scores(q, key, mask, rows, columns, ctx.causal)
                weights = scores.sub_(log_sum[..., rows, None]).exp_()
                grad_value[..., columns, :] += weights.transpose(-2, -1) @ grad
                grad_weights = grad @ value[..., columns, :].transpose(-2, -1)
                grad_scores = grad_weights.sub_(mean[..., rows, :]).mul_(weights)
                grad_query[..., rows, :] += grad_scores @ key[..., columns, :]
                grad_key[..., columns, :] += grad_scores.transpose(-2, -1) @ q
        return grad_query * scale, grad_key, grad_value, None, None


def _tiles(n_tokens: int, causal: bool) -> list[slice]:
    size = CAUSAL_TILE if causal else TILE
    return [slice(start, min(start + size, n_tokens)) for start in range(0, n_tokens, size)]


def _seen_tiles(rows: slice, n_keys: int, causal: bool) -> list[slice]:
    """The tiles of keys that any of these queries may see."""
    return [columns for columns in _tiles(n_keys, causal) if not causal or columns.start < rows.stop]


def _scores(q: Tensor, key: Tensor, mask: Tensor | None, rows: slice, columns: slice, causal: bool) -> Tensor:
    """Scores of a tile, -inf where the query may not attend."""
    scores = q @ key[..., columns, :].transpose(-2, -1)
    if mask is not None:
        seen = mask[..., rows if mask.size(-2) > 1 else slice(None), columns if mask.size(-1) > 1 else slice(None)]
        scores = scores.masked_fill_(~seen, -torch.inf)
    if causal and columns.stop > rows.start:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(rows.start - columns.start + 1)
        scores = scores.masked_fill_(future, -torch.inf)
    return scores
