r"""What queries find in one block of keys, and how what they found in several is merged.

For each query that is an output `o` and the logarithm `l` of the sum of its exponentials. Two blocks merge to

.. math:: l = \ln(e^{l_1} + e^{l_2}), \qquad o = e^{l_1 - l}\, o_1 + e^{l_2 - l}\, o_2 ,

the online softmax (Milakov & Gimelshein 2018, arXiv:1805.02867) with blocks for elements.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

TILE = 256  # queries whose scores are held at once


def attend_block(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> tuple[Tensor, Tensor]:
    """Attention to these keys alone. It keeps nothing for autograd; `differentiate_block` is its backward pass.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        causal: Whether query `i` sees keys up to `i` only.

    Returns:
        The output `(..., n_queries, d_v)` and the log-sum-exp of the scores `(..., n_queries, 1)`.
    """
    outputs, log_sums = [], []
    for rows, columns in _tiles(query.size(-2), key.size(-2), causal):
        scores = _scores(query, key, rows, columns, causal)
        log_sums.append(scores.logsumexp(-1, keepdim=True))
        outputs.append(scores.sub_(log_sums[-1]).exp_() @ value[..., columns, :])
    return torch.cat(outputs, -2), torch.cat(log_sums, -2)


def merge(output: Tensor, log_sum: Tensor, new_output: Tensor, new_log_sum: Tensor) -> tuple[Tensor, Tensor]:
    """Attention to two sets of keys from attention to each; of the shapes that `attend_block` returns."""
    total = torch.logaddexp(log_sum, new_log_sum)
    return output * (log_sum - total).exp() + new_output * (new_log_sum - total).exp(), total


def differentiate_block(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    grad_output: Tensor,
    log_sum: Tensor,
    mean: Tensor,
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
        causal: As for `attend_block`.

    Returns:
        Gradients of query, key and value.
    """
    grad_query, grad_key, grad_value = (torch.zeros_like(tensor) for tensor in (query, key, value))
    scale = query.size(-1) ** -0.5
    for rows, columns in _tiles(query.size(-2), key.size(-2), causal):
        weights = _scores(query, key, rows, columns, causal).sub_(log_sum[..., rows, :]).exp_()
        grad = grad_output[..., rows, :]
        grad_value[..., columns, :] += weights.transpose(-2, -1) @ grad
        grad_weights = grad @ value[..., columns, :].transpose(-2, -1)
        # The softmax: a weight's gradient counts by how far it is from the mean under the weights.
        grad_scores = grad_weights.sub_(mean[..., rows, :]).mul_(weights).mul_(scale)
        grad_query[..., rows, :] = grad_scores @ key[..., columns, :]
        grad_key[..., columns, :] += grad_scores.transpose(-2, -1) @ query[..., rows, :]
    return grad_query, grad_key, grad_value


def _tiles(n_queries: int, n_keys: int, causal: bool) -> Iterator[tuple[slice, slice]]:
    """A few queries at a time, and the keys that any of them sees."""
    for start in range(0, n_queries, TILE):
        end = min(start + TILE, n_queries)
        yield slice(start, end), slice(end if causal else n_keys)


def _scores(query: Tensor, key: Tensor, rows: slice, columns: slice, causal: bool) -> Tensor:
    scores = (query[..., rows, :] * query.size(-1) ** -0.5) @ key[..., columns, :].transpose(-2, -1)
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(rows.start + 1)
        scores.masked_fill_(future, -torch.inf)
    return scores
