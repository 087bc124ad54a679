r"""What queries find in one block of keys, a tile of scores at a time; and how what they found in several is merged.

For each query that is an output `o` and the logarithm `l` of the sum of its exponentials. Two blocks merge to

.. math:: l = \ln(e^{l_1} + e^{l_2}), \qquad o = e^{l_1 - l}\, o_1 + e^{l_2 - l}\, o_2 ,

the online softmax (Milakov & Gimelshein 2018, arXiv:1805.02867) with blocks for elements. `flash` attends to one block
that is all of the keys; in `distributed.ring` blocks come from several processes. Half precision is computed in
float32.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

ROWS, COLUMNS = 256, 512  # queries and keys of a tile
SCORES = 2**17  # held at once by each core, in its second-level cache: as many heads take part as that has room for


def attend_block(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Attention to these keys alone. It keeps nothing for autograd; `differentiate_block` is its backward pass.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        mask: Boolean, broadcastable to `(..., n_queries, n_keys)`; `True` = may attend.
        causal: Whether later keys are hidden, besides those that the mask hides; the last query stands where the last
            key does.

    Returns:
        The output `(..., n_queries, d_v)` and the log-sum-exp of the scores `(..., n_queries, 1)`; where a query sees
        nothing, 0 and -inf. In float32, or float64 if that is what was given.
    """
    block = _Block(query, key, value, mask, causal)
    output = block.value.new_zeros(*block.query.shape[:-1], value.size(-1))
    log_sum = block.query.new_empty(*block.query.shape[:-1], 1)
    for heads, rows in block.tiles_of_queries():
        out = output[heads, rows]
        # The lowest finite number, not -inf, which minus -inf would be NaN.
        largest = log_sum[heads, rows].fill_(torch.finfo(log_sum.dtype).min)
        total = torch.zeros_like(largest)
        for columns in block.tiles_of_keys(rows):
            scores, _ = block.scores(heads, rows, columns)
            new_largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights = scores.sub_(new_largest).exp_()
            shrink = (largest - new_largest).exp_()
            total.mul_(shrink).add_(weights.sum(-1, keepdim=True))
            out.mul_(shrink).baddbmm_(weights, block.value[heads, columns])
            largest = new_largest
        out.div_(total.clamp_min(torch.finfo(total.dtype).tiny))
        log_sum[heads, rows] = largest + total.log()
    return output.view(*query.shape[:-1], value.size(-1)), log_sum.view(*query.shape[:-1], 1)


def merge(output: Tensor, log_sum: Tensor, new_output: Tensor, new_log_sum: Tensor) -> tuple[Tensor, Tensor]:
    """Attention to two sets of keys from attention to each; of the shapes that `attend_block` returns."""
    total = torch.logaddexp(log_sum, new_log_sum)
    by = total.clamp_min(torch.finfo(total.dtype).min)  # -inf, where neither saw anything, minus -inf would be NaN
    return output * (log_sum - by).exp() + new_output * (new_log_sum - by).exp(), total


def differentiate_block(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    grad_output: Tensor,
    log_sum: Tensor,
    mean: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The part of the gradients that comes through this block, whose weights are computed anew.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        grad_output: Gradient of the merged output `(..., n_queries, d_v)`.
        log_sum: Over the keys of all blocks, `(..., n_queries, 1)`.
        mean: For each query, `grad_output` times the merged output, summed: `(..., n_queries, 1)`.
        mask: As for `attend_block`.
        causal: As for `attend_block`.

    Returns:
        Gradients of query, key and value. In float32, or float64 if that is what was given.
    """
    block = _Block(query, key, value, mask, causal)
    grad_output, log_sum, mean = (_flat(tensor) for tensor in (grad_output, log_sum, mean))
    log_sum = log_sum.clamp_min(torch.finfo(log_sum.dtype).min)
    grad_query, grad_key, grad_value = (torch.zeros_like(each) for each in (block.query, block.key, block.value))
    for heads, rows in block.tiles_of_queries():
        grad = grad_output[heads, rows]
        for columns in block.tiles_of_keys(rows):
            scores, hidden = block.scores(heads, rows, columns)
            weights = scores.sub_(log_sum[heads, rows]).exp_()
            grad_value[heads, columns].baddbmm_(weights.transpose(1, 2), grad)
            # The softmax: a weight's gradient counts by how far it is from the mean under the weights.
            grad_scores = block.product(grad, block.value[heads, columns], 1).sub_(mean[heads, rows])
            if hidden is not None:  # a hidden value may be so large that its product with 0 is NaN
                grad_scores.masked_fill_(hidden, 0.0)
            grad_scores.mul_(weights)
            grad_query[heads, rows].baddbmm_(grad_scores, block.key[heads, columns], alpha=block.scale)
            grad_key[heads, columns].baddbmm_(grad_scores.transpose(1, 2), block.query[heads, rows], alpha=block.scale)
    grads = zip((query, key, value), (grad_query, grad_key, grad_value), strict=True)
    return tuple(grad.view(each.shape) for each, grad in grads)


class _Block:
    """The scores of queries and keys, a tile at a time; all leading dimensions are one here, called heads."""

    def __init__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool):
        self.scale = query.size(-1) ** -0.5
        self.query, self.key, self.value = _flat(query), _flat(key), _flat(value)
        self.last_seen = key.size(-2) - query.size(-2) if causal else key.size(-2)  # by the first query
        self.mask = mask
        if mask is not None:
            mask = torch.atleast_2d(mask)
            self.mask = mask.reshape(mask.shape[:-2].numel(), *mask.shape[-2:])
            # Which of these masks each head has.
            which = torch.arange(len(self.mask), device=mask.device).view(mask.shape[:-2])
            self.which = which.expand(query.shape[:-2]).flatten()
        tile = max(1, min(ROWS, query.size(-2)) * min(COLUMNS, key.size(-2)))
        self.heads_at_once = max(1, min(len(self.query), SCORES * torch.get_num_threads() // tile))
        self.buffers = self.query.new_empty(2, self.heads_at_once * tile)

    def tiles_of_queries(self) -> Iterator[tuple[slice, slice]]:
        """A few heads and queries at a time."""
        n_heads, n_queries = self.query.shape[:2]
        for heads in _slices(n_heads, self.heads_at_once):
            for rows in _slices(n_queries, ROWS):
                yield heads, rows

    def tiles_of_keys(self, rows: slice) -> Iterator[slice]:
        """The keys that any of these queries sees, some at a time."""
        return _slices(min(self.key.size(1), self.last_seen + rows.stop), COLUMNS)

    def product(self, left: Tensor, right: Tensor, buffer: int, scale: float = 1.0) -> Tensor:
        """`scale * left @ right.transpose(1, 2)`, in memory that is used again and so stays in the cache."""
        shape = (*left.shape[:2], right.size(1))
        product = self.buffers[buffer, : math.prod(shape)].view(shape)
        return product.baddbmm_(left, right.transpose(1, 2), beta=0, alpha=scale)

    def scores(self, heads: slice, rows: slice, columns: slice) -> tuple[Tensor, Tensor | None]:
        """A tile of scores, -inf where the query may not attend, and where that is."""
        scores = self.product(self.query[heads, rows], self.key[heads, columns], 0, self.scale)
        hidden = None
        if self.mask is not None:
            same_rows, same_columns = self.mask.size(1) == 1, self.mask.size(2) == 1
            seen = self.mask[:, slice(None) if same_rows else rows, slice(None) if same_columns else columns]
            hidden = ~seen[self.which[heads]]
        first_hidden = self.last_seen + rows.start + 1 - columns.start  # from the first of these queries
        if first_hidden < columns.stop - columns.start:
            future = torch.ones(scores.shape[1:], dtype=torch.bool, device=scores.device).triu(first_hidden)
            hidden = future if hidden is None else hidden | future
        if hidden is not None:
            scores.masked_fill_(hidden, -torch.inf)
        return scores, hidden


def _flat(tensor: Tensor) -> Tensor:
    """`(..., tokens, features)` to `(heads, tokens, features)`, in at least float32."""
    flat = tensor.reshape(tensor.shape[:-2].numel(), *tensor.shape[-2:])
    return flat.float() if tensor.element_size() < 4 else flat


def _slices(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
