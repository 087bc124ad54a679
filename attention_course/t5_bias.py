"""T5's way to tell attention where tokens stand: a learned number in the score for each bucket of offsets.

Lesson: `chapters/relative.ipynb`.
"""

import math

import torch
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.mechanism import Mechanism
from attention_course.positions import positions_of


def t5_bucket(offset: Tensor, *, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True) -> Tensor:
    """Which entry of T5's table belongs to an offset: near ones have their own, farther ones share.

    Half of the buckets hold one distance each. The others hold ranges that grow in proportion to the distance, up to
    `max_distance`; whatever is farther shares the last. Both directions have as many buckets, those of later keys
    behind the others; where `bidirectional` is false, all are for keys that are not later, which share bucket 0.
    Raffel et al. 2020, arXiv:1910.10683, with the numbers of its code.

    Args:
        offset: Integers of any shape: the key's position minus the query's.
        n_buckets: How many; even.
        max_distance: Where the logarithm ends. Because buckets hold whole ranges, the last begins before it: at 113
            of 128 with 32 buckets for one direction, at 91 with 16.
        bidirectional: Whether keys may be later than queries.

    Returns:
        Integers of the same shape, from 0 to `n_buckets - 1`.
    """
    if bidirectional:
        n_buckets //= 2
        distance, first = offset.abs(), n_buckets * (offset > 0)
    else:
        distance, first = (-offset).clamp(min=0), 0
    n_exact = n_buckets // 2
    ratio = (distance.clamp(min=1) / n_exact).log() / math.log(max_distance / n_exact)
    shared = (n_exact + (ratio * (n_buckets - n_exact)).long()).clamp(max=n_buckets - 1)
    return first + torch.where(distance < n_exact, distance, shared)


class T5Attention(Mechanism):
    r"""Add to each score a learned number for the bucket of its offset, one a head (T5).

    .. math:: \text{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} + b_{h,\, \text{bucket}(j - i)}

    Raffel et al. 2020, arXiv:1910.10683, whose layers share one table, and whose scores are not divided by
    :math:`\sqrt{d_k}`: here each layer has its own, and scores are scaled as everywhere in the course.

    Args:
        n_heads: How many heads, each with its own numbers.
        n_buckets: As for `t5_bucket`.
        max_distance: As for `t5_bucket`.
        bidirectional: As for `t5_bucket`; false where a causal mask hides later keys.
    """

    def __init__(self, n_heads: int, *, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True):
        super().__init__()
        self.buckets = {"n_buckets": n_buckets, "max_distance": max_distance, "bidirectional": bidirectional}
        self.embedding = nn.Embedding(n_buckets, n_heads)

    def redraw(self) -> None:
        """Draw new numbers."""
        self.embedding.reset_parameters()

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, n_heads, tokens, d_head)`."""
        query_position, key_position = positions_of(query, key)
        bucket = t5_bucket(key_position - query_position[:, None], **self.buckets)  # (n_queries, n_keys)
        bias = self.embedding(bucket).permute(2, 0, 1).to(query.dtype)  # (n_heads, n_queries, n_keys)
        return scaled_dot_product_attention(
            query, key, value, mask, bias=bias, dropout=dropout, need_weights=need_weights
        )
