r"""What queries find in one block of keys, a tile of scores at a time; and how what they found in several is merged.

For each query that is an output `o` and the logarithm `l` of the sum of its exponentials. Two blocks merge to

.. math:: l = \ln(e^{l_1} + e^{l_2}), \qquad o = e^{l_1 - l}\, o_1 + e^{l_2 - l}\, o_2 ,

the online softmax (Milakov & Gimelshein 2018, arXiv:1805.02867) with blocks for elements. `flash` attends to one block
that is all of the keys; in `distributed.ring` blocks come from several processes. Half precision is computed in
float32.

Lesson: `chapters/flash.ipynb`.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

ROWS, COLUMNS = 512, 512  # queries and keys of a tile
CORES = torch.get_num_threads()
SCORES = 2**18  # held at once by each core, in its second-level cache: as many heads share a tile as that has room for


@torch.no_grad()
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
    scores = _Scores(query, key, mask, causal)
    value = _flat(value)
    output = value.new_empty(*scores.query.shape[:-1], value.size(-1))
    log_sum = value.new_empty(*scores.query.shape[:-1], 1)
    for heads in scores.heads:
        values = value[heads].split(COLUMNS, dim=1)
        for rows in _slices(query.size(-2), ROWS):
            # The lowest finite number, not -inf, which minus -inf would be NaN.
            largest = torch.full_like(log_sum[heads, rows], torch.finfo(value.dtype).min)
            total = torch.zeros_like(largest)
            out = torch.zeros_like(output[heads, rows], memory_format=torch.contiguous_format)
            for (tile, _), v in zip(scores.tiles(heads, rows), values, strict=False):
                new_largest = torch.maximum(largest, tile.amax(-1, keepdim=True))
                weights = tile.sub_(new_largest).exp_()
                shrink = (largest - new_largest).exp_()
                total.mul_(shrink).add_(weights.sum(-1, keepdim=True))
                torch.baddbmm(out.mul_(shrink), weights, v, out=out)
                largest = new_largest
            output[heads, rows] = out.div_(total.clamp_min(torch.finfo(total.dtype).tiny))
            log_sum[heads, rows] = largest + total.log()
    return output.view(*query.shape[:-1], value.size(-1)), log_sum.view(*query.shape[:-1], 1)


def merge(output: Tensor, log_sum: Tensor, new_output: Tensor, new_log_sum: Tensor) -> tuple[Tensor, Tensor]:
    """Attention to two sets of keys from attention to each; of the shapes that `attend_block` returns."""
    total = torch.logaddexp(log_sum, new_log_sum)
    finite = total.clamp_min(torch.finfo(total.dtype).min)  # where neither saw anything, -inf minus -inf would be NaN
    return output * (log_sum - finite).exp() + new_output * (new_log_sum - finite).exp(), total


@torch.no_grad()
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
    scores = _Scores(query, key, mask, causal)
    value, grad_output, log_sum, mean = (_flat(each) for each in (value, grad_output, log_sum, mean))
    log_sum = log_sum.clamp_min(torch.finfo(log_sum.dtype).min)
    grad_query, grad_key, grad_value = (torch.zeros_like(each) for each in (scores.query, scores.key, value))
    buffer = torch.empty_like(scores.buffer)
    for heads in scores.heads:
        of_columns = [each[heads].split(COLUMNS, dim=1) for each in (scores.key, value, grad_key, grad_value)]
        for rows in _slices(query.size(-2), ROWS):
            q, grad, row_log_sum, row_mean = (each[heads, rows] for each in (scores.query, grad_output, log_sum, mean))
            for (tile, hidden), k, v, grad_k, grad_v in zip(scores.tiles(heads, rows), *of_columns, strict=False):
                weights = tile.sub_(row_log_sum).exp_()
                grad_v += weights.transpose(1, 2) @ grad
                # The softmax: a weight's gradient counts by how far it is from the mean under the weights.
                grad_scores = _product(grad, v, buffer).sub_(row_mean)
                if hidden is not None:  # a hidden value may be so large that its product with 0 is NaN
                    grad_scores.masked_fill_(hidden, 0.0)
                grad_scores.mul_(weights)
                grad_query[heads, rows] += grad_scores @ k
                grad_k += grad_scores.transpose(1, 2) @ q
    grads = grad_query.mul_(scores.scale), grad_key.mul_(scores.scale), grad_value
    return tuple(grad.view(*query.shape[:-2], *grad.shape[1:]) for grad in grads)


class _Scores:
    """The scores of queries and keys, a tile at a time; all leading dimensions are one here, called heads."""

    def __init__(self, query: Tensor, key: Tensor, mask: Tensor | None, causal: bool):
        n_queries, n_keys = query.size(-2), key.size(-2)
        self.query, self.key = _flat(query), _flat(key)
        self.scale = query.size(-1) ** -0.5
        self.mask, self.which = (None, None) if mask is None else _flat_mask(mask, query)
        self.first_hidden = n_keys - n_queries + 1 if causal else n_keys + n_queries  # from the first query
        tile = max(1, min(ROWS, n_queries) * min(COLUMNS, n_keys))
        heads_at_once = max(1, min(len(self.query), SCORES * CORES // tile))
        self.heads = list(_slices(len(self.query), heads_at_once))
        self.buffer = self.query.new_empty(heads_at_once * tile)

    def tiles(self, heads: slice, rows: slice) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Tiles of scores, -inf where a query may not attend, and where that is; as many as hold keys to be seen."""
        q = self.query[heads, rows]
        n_seen = min(self.key.size(1), self.first_hidden + rows.stop - 1)
        for columns, k in zip(_slices(n_seen, COLUMNS), self.key[heads].split(COLUMNS, dim=1), strict=False):
            tile = _product(q, k, self.buffer, self.scale)
            hidden = self._hidden(heads, rows, columns.start, k.size(1))
            yield tile if hidden is None else tile.masked_fill_(hidden, -torch.inf), hidden

    def _hidden(self, heads: slice, rows: slice, start: int, size: int) -> Tensor | None:
        hidden = None
        if self.mask is not None:
            columns = slice(start, start + size)
            same_rows, same_columns = self.mask.size(1) == 1, self.mask.size(2) == 1
            seen = self.mask[:, slice(None) if same_rows else rows, slice(None) if same_columns else columns]
            hidden = ~seen[self.which[heads]]
        first_hidden = self.first_hidden + rows.start - start  # from the first of these queries
        if first_hidden < size:
            shape = rows.stop - rows.start, size
            future = torch.ones(shape, dtype=torch.bool, device=self.key.device).triu(first_hidden)
            hidden = future if hidden is None else hidden | future
        return hidden


def _product(left: Tensor, right: Tensor, buffer: Tensor, scale: float = 1.0) -> Tensor:
    """`scale * left @ right.transpose(1, 2)`, in memory that is used again and so stays in the cache."""
    shape = (*left.shape[:2], right.size(1))
    product = buffer[: math.prod(shape)].view(shape)
    return torch.baddbmm(product, left, right.transpose(1, 2), beta=0, alpha=scale, out=product)


def _flat(tensor: Tensor) -> Tensor:
    """`(..., tokens, features)` to `(heads, tokens, features)`, in at least float32."""
    flat = tensor.reshape(tensor.shape[:-2].numel(), *tensor.shape[-2:])
    return flat.float() if tensor.element_size() < 4 else flat


def _flat_mask(mask: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
    """The masks `(n_masks, 1 or n_queries, 1 or n_keys)`, and which of them is each head's, `(heads,)`."""
    mask = torch.atleast_2d(mask)
    flat = mask.reshape(mask.shape[:-2].numel(), *mask.shape[-2:])
    which = torch.arange(len(flat), device=mask.device).view(mask.shape[:-2])
    return flat, which.expand(query.shape[:-2]).flatten()


def _slices(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
