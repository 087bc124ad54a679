"""Where a block's norms stand, with numbers of a run beside the stream; and which rates train a deep stack."""

from collections.abc import Sequence
from statistics import mean

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Diagram
from attention_course.transformer import Block

WIDTH = 240  # of one block's column
STREAM, BRANCH = 46, 108  # from the column's left side: the stream's line, and the left side of what a branch holds
BOX = 112, 28
CELL = 84, 30


def norm_places(pre_norm: Block, post_norm: Block, tokens: Tensor) -> Diagram:
    """A pre-norm and a post-norm block side by side, at work on the same tokens.

    Args:
        pre_norm: Its norms at their start: gain 1, no bias.
        post_norm: The same, with `norm_first=False`.
        tokens: `(batch, n, d_model)`.

    Returns:
        The diagram. Beside the stream stand, before the block and behind each of its two layers, the size of the
        stream (the root of its mean square) and what the incoming token itself has been multiplied by.
    """
    followed = [follow(pre_norm, tokens), follow(post_norm, tokens)]
    names = ["pre-norm", "post-norm"]
    said = " ".join(
        f"In the {name} block the stream has size {numbers[0][0]:.2f} at first and {numbers[-1][0]:.2f} at the end, "
        f"and the incoming token is multiplied by {numbers[-1][1]:.2f}."
        for name, numbers in zip(names, followed, strict=True)
    )
    picture = Diagram(
        "A block with its norms before the layers, and one with its norms behind the sums. On the left, pre-norm, the "
        "stream runs straight down; each layer reads it through a norm and adds to it. On the right, post-norm, each "
        f"layer reads the stream itself, and a norm stands in the stream behind each sum. {said}",
        height=404,
    )
    for x, name, numbers in zip((0, WIDTH), names, followed, strict=True):
        _column(picture, x, name, numbers)
    return picture


@torch.no_grad()
def follow(block: Block, tokens: Tensor) -> list[tuple[float, float]]:
    """Size of the stream and factor on the incoming token: before the block, behind attention, behind feed-forward."""
    layers = ((block.attention_norm, block.attention), (block.feed_forward_norm, block.feed_forward))
    own, stream = torch.ones(()), tokens
    numbers = [(_size(stream), 1.0)]
    for norm, layer in layers:
        update = layer(norm(stream) if block.norm_first else stream)
        stream = stream + (update[0] if isinstance(update, tuple) else update)
        if not block.norm_first:
            own = own / stream.std(-1, correction=0)
            stream = norm(stream)
        numbers.append((_size(stream), own.mean().item()))
    return numbers


def _size(tokens: Tensor) -> float:
    return tokens.square().mean().sqrt().item()


def _column(picture: Diagram, x: float, name: str, numbers: Sequence[tuple[float, float]]):
    pre = name == "pre-norm"
    width, height = BOX
    middle = x + STREAM
    picture.text(x + 8, 14, name, bold=True)
    _numbers(picture, middle + 12, 40, numbers[0])
    y = 28
    for layer, tone, after in zip(("attention", "feed-forward"), ("query", "value"), numbers[1:], strict=True):
        top = y + 46
        boxes = ["norm", layer] if pre else [layer]
        areas = [
            picture.box(x + BRANCH, top + 38 * i, width, height, text, tone="key" if text == "norm" else tone)
            for i, text in enumerate(boxes)
        ]
        picture.arrow((middle, top - 12), (areas[0].top[0], top - 12), areas[0].top)
        for above, below in zip(areas, areas[1:], strict=False):
            picture.arrow(above.bottom, below.top)
        plus = top + 38 * len(areas) + 12
        picture.arrow(areas[-1].bottom, (areas[-1].bottom[0], plus), (middle + 11, plus))
        picture.arrow((middle, y), (middle, plus - 11))
        y = picture.box(middle - 11, plus - 11, 22, 22, "+").bottom[1]
        if not pre:
            picture.arrow((middle, y), (middle, y + 16))
            y = picture.box(middle - 32, y + 16, 64, height, "norm", tone="key").bottom[1]
        _numbers(picture, middle + 12, y + 14, after)
    picture.arrow((middle, y), (middle, 400))


def _numbers(picture: Diagram, x: float, y: float, numbers: tuple[float, float]):
    size, own = numbers
    picture.text(x, y, f"size {size:.2f}, own × {own:.2f}", quiet=True)


def warm_up_table(runs: Sequence[dict]) -> Diagram:
    """Recorded accuracy by learning rate, a constant rate above, with a warm-up below.

    Args:
        runs: Each with `norm_first`, `warm_up`, `rate`, `seed` and `accuracy`; one length of warm-up besides 0.

    Returns:
        The diagram, with the tensors `constant rate` and `with a warm-up`, `(2, rates)`: the mean over the seeds,
        pre-norm in the first row, post-norm in the second.
    """
    rates = sorted({run["rate"] for run in runs})
    tables = {
        name: [[_accuracy(runs, norm_first, warm, rate) for rate in rates] for norm_first in (True, False)]
        for name, warm in (("constant rate", False), ("with a warm-up", True))
    }
    said = " ".join(
        f"{place}, {name}: {_shares(rates, row)}."
        for name, table in tables.items()
        for place, row in zip(("Pre-norm", "Post-norm"), table, strict=True)
    )
    height = 66 + 2 * CELL[1]
    picture = Diagram(f"Share of right answers by learning rate. {said}", height=2 * height)
    for y, (name, table) in zip((14, 14 + height), tables.items(), strict=True):
        picture.text(0, y, name, bold=True)
        picture.text(86 + CELL[0] * len(rates), y, "learning rate", anchor="end", quiet=True)
        picture.tensor(
            86,
            y + 38,
            table,
            name=name,
            cell=CELL,
            numbers=True,
            largest=1,
            rows=["pre-norm", "post-norm"],
            columns=[f"{rate:g}" for rate in rates],
        )
    return picture


def _accuracy(runs: Sequence[dict], norm_first: bool, warm: bool, rate: float) -> float:
    wanted = norm_first, warm, rate
    return mean(run["accuracy"] for run in runs if (run["norm_first"], run["warm_up"] > 0, run["rate"]) == wanted)


def _shares(rates: Sequence[float], row: Sequence[float]) -> str:
    return ", ".join(f"{share:.0%} at {rate:g}" for rate, share in zip(rates, row, strict=True))
