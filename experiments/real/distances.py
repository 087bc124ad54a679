"""What SmolLM2 does at distances that it was never trained on."""

import torch
from _models import Models, token_bits
from _texts import pieces
from torch import Tensor

from attention_course.attention import scaled_dot_product_attention
from attention_course.mechanism import Mechanism
from attention_course.positions import rotate

HALF = 48
GAPS = {"near": 0, "2048": 2_048, "inside": 4_096, "7168": 7_168, "16384": 16_384, "32768": 32_768}


class RotaryWithGap(Mechanism):
    """Rotary positions where the tokens from `HALF` on stand farther behind."""

    def __init__(self, base: float, gap: int):
        super().__init__()
        self.base, self.gap = base, gap

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """On whole sequences, `(batch, heads, tokens, d_head)`."""
        place = torch.arange(query.size(-2))
        place = place + self.gap * (place >= HALF)
        turned = (rotate(tokens, place, base=self.base) for tokens in (query, key))
        return scaled_dot_product_attention(*turned, value, mask, dropout=dropout, need_weights=need_weights)


def second_half(model, texts: Tensor, gap: int) -> float:
    """Bits of the second half but its first token, with the first half so many places farther off."""
    kept = [block.attention.attention for block in model.blocks]
    for block, rotary in zip(model.blocks, kept, strict=True):
        block.attention.attention = RotaryWithGap(rotary.base, gap)
    try:
        return token_bits(model, texts)[:, HALF:].mean().item()
    finally:
        for block, rotary in zip(model.blocks, kept, strict=True):
            block.attention.attention = rotary


def run(models: Models) -> dict:
    """The finding."""
    _, texts = pieces(models.encode, 2 * HALF)
    costs = {name: second_half(models.model, texts, gap) for name, gap in GAPS.items()}
    return {
        "beyond_length": costs
        | {
            "outside": (costs["16384"] + costs["32768"]) / 2,
            "alone": token_bits(models.model, texts[:, HALF:]).mean().item(),
        }
    }
