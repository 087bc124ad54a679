"""The feed-forward layer of today's models, which has a gate. (The lesson's RMSNorm is `torch.nn.RMSNorm`.)

Lesson: `chapters/modern_block.ipynb`.
"""

import torch.nn.functional as F
from torch import Tensor, nn


class SwiGLU(nn.Module):
    r"""A feed-forward layer whose hidden units are a product of two: one of them, the gate, says how much passes.

    .. math:: \big(\operatorname{silu}(x W_g) \odot x W_u\big) W_d

    Shazeer 2020, arXiv:2002.05202.

    Args:
        d_model: Width of the tokens.
        d_hidden: Number of hidden units; `8 / 3 * d_model` of them make as many parameters as `FeedForward` has.
        bias: Whether the three layers have biases.
    """

    def __init__(self, d_model: int, d_hidden: int, bias: bool = False):
        super().__init__()
        self.gate = nn.Linear(d_model, d_hidden, bias=bias)
        self.up = nn.Linear(d_model, d_hidden, bias=bias)
        self.down = nn.Linear(d_hidden, d_model, bias=bias)

    def forward(self, tokens: Tensor) -> Tensor:
        """`(..., d_model)` to the same shape."""
        return self.down(F.silu(self.gate(tokens)) * self.up(tokens))
