r"""Linformer: keys and values blended, by learned weights, into a fixed number of slots.

.. math:: \operatorname{softmax}\!\left(\frac{Q (E K)^\top}{\sqrt{d_k}}\right) F V,
          \quad E, F \in \mathbb{R}^{\text{rank} \times n_\text{keys}}

Wang et al. 2020, arXiv:2006.04768. E and F belong to places, not to tokens: there is a longest sequence, and as each
slot blends the whole of it, the future cannot be masked.

Lesson: `chapters/approximations.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.inputs import hide, validate_weightless
from attention_course.mechanism import Mechanism
from attention_course.support.validation import validate_whole_number


def linformer_attention(
    query: Tensor, key: Tensor, value: Tensor, blend_keys: Tensor, blend_values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The definition: a query's weights are those of the slots."""
    slots = blend_keys[:, : key.size(-2)] @ hide(key, mask)  # (batch, heads, rank, d_head)
    contents = blend_values[:, : key.size(-2)] @ hide(value, mask)
    return scaled_dot_product_attention(query, slots, contents)


class LinformerAttention(Mechanism):
    """Softmax attention on `rank` blends of the keys and values, shared by the heads.

    Args:
        max_keys: Longest sequence; a shorter one uses the first columns of E and F.
        rank: Number of slots.

    Raises:
        ValueError: If one of them is no whole number of 1 or more.
    """

    caches = False

    def __init__(self, max_keys: int, rank: int):
        super().__init__()
        validate_whole_number("max_keys", max_keys, at_least=1)
        validate_whole_number("rank", rank, at_least=1)
        self.blend_keys = nn.Parameter(torch.empty(rank, max_keys))
        self.blend_values = nn.Parameter(torch.empty(rank, max_keys))
        self.redraw()

    def redraw(self) -> None:
        """Draw as the paper does: with variance 1 / rank, lengths keep their size on average."""
        for blend in (self.blend_keys, self.blend_values):
            nn.init.normal_(blend, std=len(blend) ** -0.5)

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `linformer_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout or a mask that differs from query to query are asked for, or there are
                more keys than `max_keys`.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        n_keys, max_keys = key.size(-2), self.blend_keys.size(1)
        if n_keys > max_keys:
            raise ValueError(f"key must hold at most max_keys = {max_keys} tokens, got {n_keys}")
        slots = self._blend(self.blend_keys, hide(key, mask))  # (batch, heads, rank, d_head)
        contents = self._blend(self.blend_values, hide(value, mask))
        return F.scaled_dot_product_attention(query, slots, contents), None

    @staticmethod
    def _blend(weights: Tensor, tokens: Tensor) -> Tensor:
        # Not `weights @ tokens`, which copies the tokens where weights are to be learnt.
        return torch.einsum("rn,bhnd->bhrd", weights[:, : tokens.size(-2)].to(tokens.dtype), tokens)
