"""Many tokens to one vector, and what one review gives to its answer."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Diagram

LEFT, CELL, ROW = 62, 48, 34  # where the columns of the tokens begin, the width of one, the height of a row
FARTHEST = 10  # log-odds at the ends of the scale


def five_poolings(words: Sequence[str], tokens: Tensor, pooled: Mapping[str, tuple[Tensor, Tensor]]) -> Diagram:
    """The tokens of one sequence, and each way to make one vector of them.

    Args:
        words: A name for each token.
        tokens: What the encoder made of them, `(n_tokens, d)`, of at most five tokens and four numbers.
        pooled: For each way its vector `(d,)`, and the share of each token in it `(n_tokens,)`.
    """
    n, d = tokens.shape
    ways = list(pooled)
    picture = Diagram(
        f"{len(ways)} ways to make one vector of {n} tokens. An encoder has made {n} vectors of {d} numbers of "
        f"{', '.join(words[:-1])} and {words[-1]}. For each way a row says which share each token has in the result, "
        f"and an arrow leads to the result, one vector of {d} numbers. "
        + " ".join(f"{way}: {_shares(words, share)}." for way, (_, share) in pooled.items()),
        height=176 + ROW * len(ways),
    )
    largest = max(tokens.abs().max().item(), *(vector.abs().max().item() for vector, _ in pooled.values()))
    picture.text(LEFT, 12, "the tokens that leave the encoder, one a column", quiet=True)
    picture.tensor(LEFT, 48, tokens.T, name="tokens", cell=(CELL, 20), tone="key", columns=words, largest=largest)
    top, right = 48 + 20 * d, LEFT + CELL * n
    picture.text(LEFT, top + 24, "share of each token", quiet=True)
    picture.text(right + 36, top + 24, "one vector", quiet=True)
    for row, (way, (vector, share)) in enumerate(pooled.items()):
        y = top + 40 + ROW * row
        picture.text(LEFT - 8, y + 13, way, anchor="end", bold=True)
        grid = picture.tensor(LEFT, y, share, name=way, cell=(CELL, 26), tone="weights", numbers=True, largest=1)
        picture.arrow((grid.right[0] + 4, y + 13), (right + 32, y + 13))
        picture.tensor(right + 36, y, vector, name=f"{way} vector", cell=(34, 26), tone="output", largest=largest)
    return picture


def review_answer(words: Sequence[str], share: Tensor, before: float, after: float, out: int | None) -> Diagram:
    """What each word of a review has to do with the answer, and the answer with one of them erased.

    Args:
        words: The tokens, in the order in which they are read.
        share: Of each in the pooled vector, `(n_tokens,)`; 0 for a word that was erased.
        before: Log-odds of *good* for the whole review.
        after: Log-odds with a word erased.
        out: The place of that word; `None` for the whole review.
    """
    without = f"without {words[out]}" if out is not None else "whole review"
    picture = Diagram(
        f"Shares of the words in the answer, {without}. {_shares(words, share)}. The log-odds of good are {after:+.1f}"
        + (f"; of the whole review {before:+.1f}." if out is not None else "."),
        height=26 * len(words) + 112,
    )
    picture.text(130, 12, "share in the pooled vector", quiet=True)
    for place, word in enumerate(words):
        y = 26 + 26 * place
        picture.text(116, y + 12, f"({word})" if place == out else word, anchor="end", quiet=place == out)
        width = 230 * share[place].item()
        if width >= 1:
            picture.box(130, y + 2, width, 20, tone="weights")
        number = "erased" if place == out else f"{share[place].item():.2f}"
        picture.text(138 + width, y + 12, number, quiet=place == out)
    y = 26 * len(words) + 44
    picture.text(240, y, "log-odds of good", anchor="middle", quiet=True)
    for row, (name, odds) in enumerate((("whole", before), (without if out is not None else "", after))):
        if name:
            _odds_bar(picture, y + 12 + 26 * row, name, odds)
    return picture


def _odds_bar(picture: Diagram, y: float, name: str, odds: float):
    """A bar from the middle: to the right for good, to the left for bad."""
    middle, width = 270, 110 * min(1.0, abs(odds) / FARTHEST)
    picture.text(136, y + 11, name, anchor="end")
    if width >= 1:
        picture.box(middle if odds > 0 else middle - width, y + 1, width, 20, tone="query" if odds > 0 else "key")
    picture.line((middle, y - 2), (middle, y + 24), weight=0.2)
    picture.text(392, y + 11, f"{odds:+.1f}, {'good' if odds > 0 else 'bad'}".replace("-", "\N{MINUS SIGN}"))


def _shares(words: Sequence[str], share: Tensor) -> str:
    """Which tokens have a share, in words."""
    named = [f"{word} {part:.2f}" for word, part in zip(words, torch.as_tensor(share).tolist(), strict=True) if part]
    return ", ".join(named)
