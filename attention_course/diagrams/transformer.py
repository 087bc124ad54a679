"""The diagrams of the lesson "The Transformer": a block around its stream and one token's stream."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from attention_course.diagrams.diagram import Diagram, Grid

STREAM = 130  # where the residual stream runs, from top to bottom
WIDE = 128  # of a row of d_model cells
TALL = 64  # of all tokens
HALF = 196  # from one state of the stream to the next


@torch.no_grad()
def transformer_block(block: nn.Module, tokens: Tensor, names: Sequence[str]) -> Diagram:
    """A block at work on a few tokens: what stands in the residual stream, and what the two layers add to it.

    Args:
        block: Pre-norm, with `attention_norm`, `attention`, `feed_forward_norm` and `feed_forward`.
        tokens: `(n, d_model)`, a handful of them.
        names: One for each token.
    """
    attended = block.attention(block.attention_norm(tokens)[None])[0][0]
    between = tokens + attended
    thought = block.feed_forward(block.feed_forward_norm(between))
    states = {"the tokens": tokens, "after attention": between, "after the block": between + thought}
    updates = {"attention": (attended, "weights"), "feed-forward": (thought, "value")}
    shares = [_share(update, before) for (update, _), before in zip(updates.values(), states.values(), strict=False)]
    picture = Diagram(
        f"One block around its residual stream, run on {len(names)} tokens. The stream is a thick line from top to "
        "bottom, with each token as a row of coloured cells. Two layers stand beside the line. Each reads a copy of "
        "the rows through a norm, and a plus sign adds what it gives back to the line. Attention adds "
        f"{shares[0]:.0%} of the stream's size, the feed-forward layer {shares[1]:.0%}.",
        height=2 * HALF + TALL + 44,
    )
    picture.text(STREAM, 14, "residual stream", anchor="middle", bold=True)
    tops = [30 + HALF * number for number in range(3)]
    cell = (WIDE / tokens.size(1), TALL / len(names))
    for top, (name, state) in zip(tops, states.items(), strict=True):
        picture.tensor(STREAM - WIDE / 2, top, state, name=name, cell=cell, rows=names)
        picture.text(STREAM + WIDE / 2 + 10, top + TALL - 10, name, quiet=True)
    for top, (name, (update, tone)), share in zip(tops, updates.items(), shares, strict=False):
        _layer(picture, top + TALL, name, update, tone, share, cell)
    return picture


def _layer(picture: Diagram, top: float, name: str, update: Tensor, tone: str, share: float, cell: tuple[float, float]):
    """One layer beside the stream: norm, layer, what it gives back, and the plus where that is added."""
    height = top + 18  # where the copy leaves the stream
    norm = picture.box(218, height - 15, 62, 30, "norm")
    layer = picture.box(322, height - 15, 128, 30, name, tone=tone)
    picture.arrow((STREAM + 5, height), norm.left)
    picture.arrow(norm.right, layer.left)
    added = picture.tensor(322, height + 35, update, name=f"{name} adds", cell=cell, tone=tone)
    picture.arrow(layer.bottom, added.top)
    plus = picture.box(STREAM - 13, added.left[1] - 13, 26, 26, "+")
    picture.line((STREAM, top), plus.top, weight=1)
    picture.line(plus.bottom, (STREAM, top - TALL + HALF), weight=1)
    picture.arrow(added.left, plus.right)
    middle = (plus.right[0] + added.left[0]) / 2
    picture.text(middle, plus.y + 2, f"adds {share:.0%}", anchor="middle")


def _share(update: Tensor, stream: Tensor) -> float:
    return (update.norm() / stream.norm()).item()


def residual_stream(
    additions: Mapping[str, Tensor], said: Sequence[Mapping[str, float]], right: str, *, asked: str, until: int
) -> Diagram:
    """One token's stream as the sum of what was added to it, and what the model would say after each addition.

    Args:
        additions: What each part added, `(d_model,)`, in the order of the run.
        said: After each addition the likeliest answers and their probabilities, likeliest first.
        right: The right answer.
        asked: What the token is asked, in words: the line above the picture.
        until: How many additions have been made, from 1.
    """
    parts = list(additions.items())
    stream = sum(update for _, update in parts[:until])
    largest = max(update.abs().max().item() for update in additions.values())
    answers = said[until - 1]
    picture = Diagram(
        f"The residual stream of one token after {until} of {len(parts)} additions. {asked}. Each addition is a strip "
        f"of {len(stream)} coloured cells, and the last strip is their sum. The model would now say "
        + ", ".join(f"{answer} with {chance:.0%}" for answer, chance in answers.items())
        + f". Right is {right}.",
        height=48 * len(parts) + 240,
    )
    picture.text(12, 12, asked, bold=True)
    cell = (420 / len(stream), 20)

    def strip(y: float, name: str, values: Tensor, tone: str) -> Grid:
        picture.text(12, y - 12, name, bold=tone == "output")
        picture.text(432, y - 12, f"size {values.norm():.1f}", anchor="end", quiet=True)
        return picture.tensor(12, y, values, name=name, cell=cell, tone=tone, largest=largest)

    for number, (name, update) in enumerate(parts):
        y = 54 + 48 * number
        if number < until:
            strip(y, name, update, "plain")
            picture.text(462, y + 10, "+" if number + 1 < until else "", anchor="middle")
        else:
            picture.text(12, y - 12, f"({name}: not yet)", quiet=True)
    y = 54 + 48 * len(parts)
    strip(y + 8, "sum: the stream now", stream, "output")
    picture.text(12, y + 54, "what the model would say now", bold=True)
    for number, (answer, chance) in enumerate(answers.items()):
        height = y + 80 + 26 * number
        picture.text(20, height, answer, anchor="middle", bold=answer == right)
        picture.line((36, height), (36 + max(1.0, 340 * chance), height), weight=1)
        note = f"{chance:.0%}" + (", right" if answer == right else "")
        picture.text(46 + 340 * chance, height, note)
    return picture
