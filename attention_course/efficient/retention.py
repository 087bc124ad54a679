r"""Retention: what was written fades at a steady rate, one for each head.

.. math:: S_t = \gamma S_{t-1} + k_t v_t^\top, \qquad o_t = S_t^\top q_t

Sun et al. 2023, arXiv:2307.08621. With a decay of 1 it is linear attention without its normaliser.

Lesson: `chapters/states.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.efficient.matrix_state import MatrixStateLayer, fading
from attention_course.support.autocast import wide


def retention(query: Tensor, key: Tensor, value: Tensor, decay: Tensor) -> Tensor:
    """The definition, token by token: all `(batch, n_heads, n_tokens, d_head)` but the decay, `(n_heads,)`."""
    state, outputs = 0.0, []
    for q, k, v in zip(query.unbind(2), key.unbind(2), value.unbind(2), strict=True):
        state = decay[:, None, None] * state + k[..., :, None] * v[..., None, :]  # (batch, n_heads, d_head, d_head)
        outputs.append((q[..., None, :] @ state).squeeze(-2))
    return torch.stack(outputs, dim=2)


def retention_chunk(
    query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """As `MatrixStateLayer.chunk`, with the logarithm of what each token keeps, `(batch, n_heads, n_tokens, 1)`."""
    left = fading(log_decay).squeeze(-1)  # of token j at token i: (batch, n_heads, n_tokens, n_tokens)
    state_left = log_decay.cumsum(-2).exp()  # of the state before, at each token: (batch, n_heads, n_tokens, 1)
    read = (query * state_left) @ state + (query @ key.mT * left) @ value
    state = state_left[..., -1:, :] * state + (key * left[..., -1, :, None]).mT @ value
    return read, state


class MultiScaleRetention(MatrixStateLayer):
    """Retention with a decay for each head, which is learned.

    The decays start at the paper's `1 - 2^-(5 + head)`: the first head forgets 1/32 of its state a token, each further
    one half as much. In the paper they stay so; here they are the sigmoids of parameters. The paper's rotation of
    queries and keys by their positions is left out, too: it would count what is hidden.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
    """

    chunk = staticmethod(retention_chunk)

    def __init__(self, d_model: int, n_heads: int):
        super().__init__(d_model, n_heads)
        self.decay_logit = nn.Parameter(first_decay_logits(n_heads))

    @property
    def decay(self) -> Tensor:
        """What each head keeps from token to token, `(n_heads,)`, between 0 and 1."""
        return self.decay_logit.sigmoid()

    def redraw(self) -> None:
        """Draw new weights for the projections, and put the decays back to where they start."""
        super().redraw()
        with torch.no_grad():
            self.decay_logit.copy_(first_decay_logits(self.n_heads))

    def gates(self, tokens: Tensor) -> list[Tensor]:
        """The logarithm of each head's decay, for every token the same: `(batch, n_heads, n_tokens, 1)`."""
        log_decay = F.logsigmoid(wide(self.decay_logit))
        return [log_decay[:, None, None].expand(tokens.size(0), -1, tokens.size(1), 1)]


def first_decay_logits(n_heads: int) -> Tensor:
    """The paper's decays, `1 - 2^-(5 + head)`, as the numbers of which they are the sigmoids: `(n_heads,)`."""
    return (2.0 ** (5 + torch.arange(n_heads)) - 1).log()
