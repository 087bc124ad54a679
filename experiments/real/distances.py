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
    """Rotary positions where the tokens from `HALF` on stand farther behind.

    With a sink of its own, the first of them sees itself alone, as the first token of a text does.
    """

    def __init__(self, base: float, gap: int, own_sink: bool):
        super().__init__()
        self.base, self.gap, self.own_sink = base, gap, own_sink

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """On whole sequences, `(batch, heads, tokens, d_head)`."""
        place = torch.arange(query.size(-2))
        place = place + self.gap * (place >= HALF)
        if self.own_sink:
            mask = mask.clone()
            mask[..., HALF, :HALF] = False
        turned = (rotate(tokens, place, base=self.base) for tokens in (query, key))
        return scaled_dot_product_attention(*turned, value, mask, dropout=dropout, need_weights=need_weights)


def second_half(model, texts: Tensor, gap: int, own_sink: bool = False) -> Tensor:
    """Bits of the second half of each text but its first token, with the first half so many places farther off."""
    kept = [block.attention.attention for block in model.blocks]
    for block, rotary in zip(model.blocks, kept, strict=True):
        block.attention.attention = RotaryWithGap(rotary.base, gap, own_sink)
    try:
        return token_bits(model, texts)[:, HALF:].mean(1)
    finally:
        for block, rotary in zip(model.blocks, kept, strict=True):
            block.attention.attention = rotary


def run(models: Models) -> dict:
    """The finding."""
    _, texts = pieces(models.encode, 2 * HALF)
    costs = {name: second_half(models.model, texts, gap).mean().item() for name, gap in GAPS.items()}
    alone = token_bits(models.model, texts[:, HALF:]).mean(1)
    harms = {}
    for name, gap in GAPS.items():
        harm = second_half(models.model, texts, gap, own_sink=True) - alone
        harms[f"harm_{name}_own_sink"] = [harm.mean().item(), (harm.std() / len(harm) ** 0.5).item()]
    return {
        "beyond_length": costs
        | {"outside": (costs["16384"] + costs["32768"]) / 2, "alone": alone.mean().item()}
        | harms
    }
