r"""The gated delta rule: a token takes out what is found at its key before it writes there, and says how much is kept.

.. math:: S_t = \alpha_t (I - \beta_t k_t k_t^\top) S_{t-1} + \beta_t k_t v_t^\top, \qquad o_t = S_t^\top q_t

Yang et al. 2024, arXiv:2412.06464. With gates of 1 it is the delta rule (Schlag et al. 2021, arXiv:2102.11174; in
parallel: Yang et al. 2024, arXiv:2406.06484). Written otherwise,

.. math:: S_t = \alpha_t S_{t-1} + k_t u_t^\top, \qquad u_t = \beta_t (v_t - \alpha_t S_{t-1}^\top k_t)

it is retention that writes only what is new, and u is all that has to be found.

Lesson: `chapters/states.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.efficient.gated_linear import SLOWNESS
from attention_course.efficient.matrix_state import MatrixStateLayer, fading
from attention_course.efficient.retention import retention_chunk
from attention_course.support.autocast import wide


def gated_delta_rule(query: Tensor, key: Tensor, value: Tensor, gate: Tensor, strength: Tensor) -> Tensor:
    """The definition, token by token: all `(batch, n_heads, n_tokens, d_head)` but gate and strength, `(..., 1)`."""
    state, outputs = query.new_zeros(*query.shape[:2], key.size(-1), value.size(-1)), []
    for q, k, v, alpha, beta in zip(*(each.unbind(2) for each in (query, key, value, gate, strength)), strict=True):
        state = alpha[..., None] * state
        found = (k[..., None, :] @ state).squeeze(-2)
        state = state + k[..., :, None] * (beta * (v - found))[..., None, :]
        outputs.append((q[..., None, :] @ state).squeeze(-2))
    return torch.stack(outputs, dim=2)


def gated_delta_chunk(
    query: Tensor, key: Tensor, value: Tensor, log_gate: Tensor, strength: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """As `MatrixStateLayer.chunk`, with logarithms of gates, and strengths: `(batch, n_heads, n_tokens, 1)`."""
    # Token i finds what the state still holds at its key, and what tokens j before it have written:
    # u_i + strength_i * sum over j < i of (k_i . k_j) left_ij u_j = strength_i * (v_i - what the state holds).
    overlap = strength * (key @ key.mT) * fading(log_gate).squeeze(-1)
    held = (key * log_gate.cumsum(-2).exp()) @ state
    # Of the matrix only what stands below the diagonal is read: there it has ones.
    new = torch.linalg.solve_triangular(overlap, strength * (value - held), upper=False, unitriangular=True)
    return retention_chunk(query, key, new, log_gate, state)


class GatedDeltaNet(MatrixStateLayer):
    """The gated delta rule with keys of length 1.

    The gates are computed as `GatedLinearAttention` computes them, but one a head; in the paper, as in Mamba-2. The
    paper makes the queries of length 1, too, after an activation of queries, keys and values.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
        gated: `False` keeps all that is not written over: the delta rule, as in DeltaNet.
    """

    def __init__(self, d_model: int, n_heads: int, *, gated: bool = True):
        super().__init__(d_model, n_heads)
        self.strength_proj = nn.Linear(d_model, n_heads)
        self.gate_proj = nn.Linear(d_model, n_heads) if gated else None

    def gates(self, tokens: Tensor) -> list[Tensor]:
        """The logarithm of each head's gate, and how strongly it writes: both `(batch, n_heads, n_tokens, 1)`."""
        strength = wide(self._split(self.strength_proj(tokens))).sigmoid()
        if self.gate_proj is None:
            return [torch.zeros_like(strength), strength]
        return [F.logsigmoid(wide(self._split(self.gate_proj(tokens)))) / SLOWNESS, strength]

    @staticmethod
    def chunk(query: Tensor, key: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
        """As `gated_delta_chunk`, with keys made to be of length 1."""
        return gated_delta_chunk(query, F.normalize(key, dim=-1), *others)
