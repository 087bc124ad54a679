r"""Gated linear attention: each token says, for every feature of the keys, how much of what was written there is kept.

.. math:: S_t = \operatorname{diag}(\alpha_t) S_{t-1} + k_t v_t^\top, \qquad o_t = S_t^\top q_t

Yang et al. 2023, arXiv:2312.06635. With the same constant for all features it is retention.

Lesson: `chapters/states.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.efficient.matrix_state import MatrixStateLayer, fading
from attention_course.support.autocast import wide

RANK = 16  # of the matrix that computes the gates of all features from a token
SLOWNESS = 16  # the gate is the root of a sigmoid, this one: at a sigmoid of 1/2 a token keeps 96%


def gated_linear_attention(query: Tensor, key: Tensor, value: Tensor, gate: Tensor) -> Tensor:
    """The definition, token by token: all `(batch, n_heads, n_tokens, d_head)`, gates between 0 and 1."""
    state, outputs = 0.0, []
    for q, k, v, alpha in zip(*(each.unbind(2) for each in (query, key, value, gate)), strict=True):
        state = alpha[..., :, None] * state + k[..., :, None] * v[..., None, :]  # (batch, n_heads, d_head, d_head)
        outputs.append((q[..., None, :] @ state).squeeze(-2))
    return torch.stack(outputs, dim=2)


def gated_linear_chunk(
    query: Tensor, key: Tensor, value: Tensor, log_gate: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """As `MatrixStateLayer.chunk`, with the logarithms of the gates, `(batch, n_heads, n_tokens, d_head)`."""
    left = fading(log_gate)  # of token j at token i, by feature: (batch, n_heads, n_tokens, n_tokens, d_head)
    state_left = log_gate.cumsum(-2).exp()  # of the state before, at each token: (batch, n_heads, n_tokens, d_head)
    # Each pair's own sum over features: a matrix product of queries and keys, each with its share of the gates, would
    # have to divide by a product of gates. That makes it slow, and the chunks short.
    scores = (left * key.unsqueeze(-3) @ query.unsqueeze(-1)).squeeze(-1)  # (batch, n_heads, n_tokens, n_tokens)
    read = (query * state_left) @ state + scores @ value
    state = state_left[..., -1, :, None] * state + (key * left[..., -1, :, :]).mT @ value
    return read, state


class GatedLinearAttention(MatrixStateLayer):
    """Gated linear attention, with gates computed by two small matrices, as in the paper.

    The paper's keys are half as wide as its values; here they are as wide.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
    """

    chunk_size = 16
    chunk = staticmethod(gated_linear_chunk)

    def __init__(self, d_model: int, n_heads: int):
        super().__init__(d_model, n_heads)
        self.gate_down = nn.Linear(d_model, RANK, bias=False)
        self.gate_up = nn.Linear(RANK, d_model)

    def gates(self, tokens: Tensor) -> list[Tensor]:
        """The logarithm of each feature's gate: `(batch, n_heads, n_tokens, d_head)`."""
        return [F.logsigmoid(wide(self._split(self.gate_up(self.gate_down(tokens))))) / SLOWNESS]
