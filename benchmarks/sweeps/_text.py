"""What the sweeps over language models share: the loss of a text, and bits a character on held-out text."""

import math

import torch
import torch.nn.functional as F


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
