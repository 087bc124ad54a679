"""What a language model's heads and blocks are worth on held-out text, each switched off alone.

Lesson: `chapters/circuits.ipynb`.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.attention import DotProductAttention
from attention_course.language_model import CausalLanguageModel


@torch.no_grad()
def head_means(model: CausalLanguageModel, pieces: Tensor, *, causal: bool = True) -> Tensor:
    """What each head says on average over pieces of text: its blend of the values, before the heads are joined.

    Args:
        model: Its attention a `MultiHeadAttention` in every block.
        pieces: Symbols, `(n_pieces, n)`.
        causal: Whether a symbol sees itself and earlier ones only.

    Returns:
        `(n_blocks, n_heads, d_head)`.
    """
    said = [[] for _ in model.blocks]
    with ExitStack() as hooks:
        for block, answers in zip(model.blocks, said, strict=True):

            def keep(_, inputs, answers=answers):
                answers.append(inputs[0].mean(1))

            hooks.callback(block.attention.out_proj.register_forward_pre_hook(keep).remove)
        for some in pieces.split(32):
            model(some, causal=causal)
    n_heads = model.blocks[0].attention.n_heads
    return torch.stack([torch.cat(answers).mean(0).unflatten(0, (n_heads, -1)) for answers in said])


@contextmanager
def switched_off(
    model: CausalLanguageModel,
    *,
    heads: Sequence[tuple[int, int]] = (),
    blocks: Sequence[int] = (),
    positions: bool = False,
    means: Tensor | None = None,
) -> Iterator[None]:
    """Inside the `with`, some heads say always the same, some blocks add nothing, or no positions are known.

    Args:
        model: As for `head_means`, pre-norm, with rotary positions or learned ones.
        heads: Pairs `(block, head)`, counted from 0.
        blocks: Counted from 0.
        positions: Whether they are taken away.
        means: What the heads say instead, from `head_means`; zeros if left out.
    """
    with ExitStack() as undo:
        for number, block in enumerate(model.blocks):
            off = [head for of, head in heads if of == number]
            instead = 0 if means is None else means[number, off]

            def replace(_, inputs, off=off, instead=instead, n_heads=block.attention.n_heads):
                parts = inputs[0].unflatten(-1, (n_heads, -1)).clone()
                parts[:, :, off] = instead
                return parts.flatten(-2)

            undo.callback(block.attention.out_proj.register_forward_pre_hook(replace).remove)
            if number in blocks:
                for part in (block.attention.out_proj, block.feed_forward):
                    undo.callback(part.register_forward_hook(lambda *given: torch.zeros_like(given[-1])).remove)
            if positions:
                undo.callback(setattr, block.attention, "attention", block.attention.attention)
                block.attention.attention = DotProductAttention()
        undo.callback(setattr, model, "positions", model.positions)
        model.positions = None if positions else model.positions
        yield


@torch.no_grad()
def bits(model: CausalLanguageModel, pieces: Tensor, *, causal: bool = True) -> float:
    """Mean cost of every symbol `(n_pieces, n + 1)` but the first of its piece, in bits."""
    losses = [
        F.cross_entropy(model(some[:, :-1], causal=causal)[0].transpose(1, 2), some[:, 1:], reduction="none")
        for some in pieces.split(32)
    ]
    return torch.cat(losses).mean().item() / math.log(2)


def measure_switched_off(model: CausalLanguageModel, pieces: Tensor, *, masked: bool = True) -> dict:
    """What it costs to switch off one part of a model, each head and each block alone, on held-out text.

    Args:
        model: As for `switched_off`.
        pieces: Symbols of the text, `(n_pieces, n + 1)`.
        masked: Whether the model was trained with the future hidden; all is measured so, but `mask`.

    Returns:
        `n_pieces`, `length` (n) and `means`, what the heads say on average, rounded to 16 bits. In bits a symbol:
        `bits` of the model as it was trained, and without one part `zeros` and `with_means` (of each block's heads, the
        head saying zeros or its mean), `blocks` (each adding nothing), `positions`, and `mask` (the other one).
    """
    n = pieces.size(1) - 1
    means = head_means(model, pieces[:, :-1], causal=masked).half()
    n_blocks, n_heads, _ = means.shape

    def cost(**off) -> float:
        with switched_off(model, **off):
            return round(bits(model, pieces, causal=masked), 4)

    def cost_of_heads(instead) -> list[list[float]]:
        return [[cost(heads=[(b, h)], means=instead) for h in range(n_heads)] for b in range(n_blocks)]

    return {
        "n_pieces": len(pieces),
        "length": n,
        "means": means.tolist(),
        "bits": cost(),
        "zeros": cost_of_heads(None),
        "with_means": cost_of_heads(means.to(model.lm_head.weight)),
        "blocks": [cost(blocks=[block]) for block in range(n_blocks)],
        "positions": cost(positions=True),
        "mask": round(bits(model, pieces, causal=not masked), 4),
    }
