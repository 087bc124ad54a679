"""What the sweeps over language models share: a loss, bits a character on held-out text, and positions."""

import math

import torch
import torch.nn.functional as F

from attention_course.mechanism import Mechanism, as_mechanism
from attention_course.positions import rotate


def loss(model, symbols):
    """Mean cross-entropy of each symbol `(batch, n)` given those before it."""
    logits, _ = model(symbols[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), symbols[:, 1:].flatten())


@torch.no_grad()
def bits(model, symbols, window: int) -> float:
    """Mean over the second half of windows that overlap by half: each prediction has at least half a window to read."""
    half = window // 2
    losses = []
    for pieces in symbols.unfold(0, 2 * half + 1, half).split(64):
        logits, _ = model(pieces[:, :-1])
        losses.append(F.cross_entropy(logits[:, half:].transpose(1, 2), pieces[:, half + 1 :], reduction="none"))
    return torch.cat(losses).mean().item() / math.log(2)


class Rotated(Mechanism):
    """Queries and keys turned by their positions, then any causal mechanism."""

    def __init__(self, attention):
        super().__init__()
        self.attention = as_mechanism(attention)
        self.causal = self.attention.causal

    def forward(self, query, key, value, mask=None, **options):
        position = torch.arange(query.size(-2), device=query.device)
        return self.attention(rotate(query, position), rotate(key, position), value, mask, **options)
