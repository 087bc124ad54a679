"""The methods of `interpret` side by side on one model, and how much of a known truth each of them finds.

Lesson: `chapters/interpretability.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.interpreting.circuits import head_ablation
from attention_course.interpreting.interpret import (
    attention_flow,
    erasure,
    gradient_times_input,
    gradients,
    integrated_gradients,
    replacement,
    rollout,
)
from attention_course.interpreting.relevance import relevance, weighted_norms


def share_found(scores: Tensor, gold: Tensor) -> Tensor:
    """Of the tokens that decide, the share among the highest scores, as many as there are (R-precision).

    Args:
        scores: `(batch, n)`, higher = more relevant.
        gold: Boolean `(batch, n)`: the tokens that decide, at least one in each row.

    Returns:
        `(batch,)`, between 0 and 1.

    Raises:
        ValueError: If the shapes differ or a row has no gold token.
    """
    if scores.shape != gold.shape:
        raise ValueError(f"gold must have the scores' shape {tuple(scores.shape)}, got {tuple(gold.shape)}")
    if not gold.any(1).all():
        raise ValueError("gold must have a token in every row, got a row without one")
    count = gold.sum(1, keepdim=True)
    rank = scores.argsort(1, descending=True).argsort(1)
    return (gold & (rank < count)).sum(1) / count.squeeze(1)


def same_order(scores: Tensor, others: Tensor) -> Tensor:
    """How much two methods, or two models, order the tokens alike: the rank correlation, equal scores sharing a rank.

    Args:
        scores: `(batch, n)`.
        others: `(batch, n)`.

    Returns:
        `(batch,)`, from -1 to 1; 0 where all scores of a row are equal.
    """
    ranks = [_ranks(one) - (scores.size(1) - 1) / 2 for one in (scores, others)]
    lengths = ranks[0].norm(dim=1) * ranks[1].norm(dim=1)
    return (ranks[0] * ranks[1]).sum(1) / lengths.clamp_min(1e-9)


def _ranks(scores: Tensor) -> Tensor:
    gaps = scores[:, :, None] - scores[:, None]
    largest = scores.abs().amax(1)[:, None, None]
    return (0.5 + 0.5 * torch.where(gaps.abs() > 1e-5 * largest, gaps, 0).sign()).sum(2) - 0.5


def every_method(model: nn.Module, tokens: Tensor, baseline: Tensor, steps: int = 1000) -> dict[str, Tensor]:
    """Score the tokens of each example by each method, for a model that answers at its last token.

    Args:
        model: With `embedding`, an `encoder` of blocks with `attention`, and `read(x, mask=None)` from embedded tokens
            to the answers `(batch,)` and the maps of all blocks. An answer below 0 is a class of its own, for which
            the opposite number speaks.
        tokens: `(batch, n)`.
        baseline: As for `integrated_gradients`.
        steps: As for `integrated_gradients`.

    Returns:
        `(batch, n)` by name, none below 0. "integrated from 0" are integrated gradients from a baseline of zeros
        and the last token. "head ablation" adds up the last token's rows of all maps, each times what the answer loses
        without its head.
    """

    def answer(x: Tensor) -> Tensor:
        return model.read(x)[0]

    def chosen(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        numbers, maps = model.read(x)
        return numbers.abs(), maps

    with torch.no_grad():
        x = model.embedding(tokens)
        maps = model.read(x)[1]
    zeros = torch.cat([torch.zeros_like(x[:, :-1]), x[:, -1:]], 1)
    rows = torch.stack(maps, 1)[..., -1, :]  # the last token's: (batch, n_blocks, n_heads, n)
    missed = head_ablation(lambda: answer(x), [block.attention for block in model.encoder.blocks]).abs()
    return {
        "weights, first block": rows[:, 0].mean(1),
        "weights, last block": rows[:, -1].mean(1),
        "weights, all blocks": rows.mean((1, 2)),
        "norms, last block": _last_norms(model, x, maps[-1])[:, -1],
        "rollout": rollout(maps)[:, -1],
        "flow": attention_flow(maps),
        "relevance": relevance(chosen, x)[:, -1],
        "head ablation": (missed[..., None] * rows).sum((1, 2)),
        "gradient": gradients(answer, x).norm(dim=-1),
        "gradient × input": gradient_times_input(answer, x).abs(),
        "integrated gradients": integrated_gradients(answer, x, baseline, steps).abs(),
        "integrated from 0": integrated_gradients(answer, x, zeros, steps).abs(),
        "token hidden": erasure(lambda tokens, mask: model.read(model.embedding(tokens), mask)[0], tokens).abs(),
        "token replaced": replacement(answer, x, baseline).abs(),
    }


@torch.no_grad()
def _last_norms(model: nn.Module, x: Tensor, weights: Tensor) -> Tensor:
    """`weighted_norms` of the last block."""
    layer, seen = model.encoder.blocks[-1].attention, []
    hook = layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        model.read(x)
    finally:
        hook.remove()
    return weighted_norms(layer, seen[0], weights)
