"""One distribution over the next symbol and what the ways of writing cut from it, and the tree of a beam search."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram

SHOWN = 8  # symbols with a column of their own
LEFT, CELL, HEIGHT = 134, 38, 30
VISIBLE = {" ": "\N{OPEN BOX}", "\n": "\N{RETURN SYMBOL}"}
COLUMN, ROW, TOP = 150, 40, 62  # of the tree: from step to step, from candidate to candidate, and of the first one


def cut_distribution(logits: Tensor, vocabulary: str, text: str, *, k: int = 3, p: float = 0.6) -> Diagram:
    """The probabilities of the next symbol as they are, at two temperatures, and cut by top-k and top-p.

    Args:
        logits: Of the symbol after the text, `(vocab_size,)`, more than 8 of them.
        vocabulary: The character of each symbol.
        text: What the model has read; only its end is written above the picture.
        k: How many symbols top-k keeps.
        p: The share of the probability that top-p keeps, at least.

    Returns:
        The diagram, with one tensor `(1, 9)` for each row, named as the row is labelled: the 8 likeliest symbols and
        the sum of all others. What a cut keeps is framed.
    """
    ranked, order = logits.sort(descending=True)
    plain = ranked.softmax(-1)
    n_top_p = int((plain.cumsum(-1) - plain < p).sum())
    rows = {
        "as they are": plain,
        "temperature 0.5": (ranked / 0.5).softmax(-1),
        "temperature 2": (ranked / 2).softmax(-1),
        f"top-k, k = {k}": _only_first(plain, k),
        f"top-p, p = {p:g}": _only_first(plain, n_top_p),
    }
    kept = {f"top-k, k = {k}": k, f"top-p, p = {p:g}": n_top_p}
    names = [_visible(vocabulary[i]) for i in order[:SHOWN].tolist()]
    n_others = len(logits) - SHOWN
    said = " ".join(
        f"{name[0].upper() + name[1:]}: {names[0]} has {row[0]:.2f}, and the {n_others} others together "
        f"{row[SHOWN:].sum():.2f}."
        for name, row in rows.items()
    )
    picture = Diagram(
        f"The probabilities of the next symbol, cut in several ways. Columns are the {SHOWN} likeliest symbols and the "
        f"{n_others} others together. {said} Top-k keeps {k} symbols, and top-p keeps {n_top_p}.",
        height=66 + len(rows) * (HEIGHT + 8),
    )
    picture.text(0, 14, f"what comes after {_visible(text[-30:])}", bold=True)
    y = 64
    for name, row in rows.items():
        cells = torch.cat([row[:SHOWN], row[SHOWN:].sum(0, keepdim=True)])
        columns = [*names, "others"] if y == 64 else ()
        _row(picture, y, name, cells, columns, kept.get(name))
        y += HEIGHT + 8
    return picture


def _row(picture: Diagram, y: float, name: str, cells: Tensor, columns, n_kept: int | None):
    picture.text(0, y + HEIGHT / 2, name)
    grid = picture.tensor(LEFT, y, cells, name=name, cell=(CELL, HEIGHT), numbers=True, largest=1, tone="weights")
    for column, label in enumerate(columns):
        picture.text(grid.cell(0, column).centre[0], y - 12, label, anchor="middle")
    if n_kept is not None:
        picture.frame(Area(LEFT, y, CELL * min(n_kept, SHOWN + 1), HEIGHT), margin=1)


def _only_first(probabilities: Tensor, n: int) -> Tensor:
    kept = torch.where(torch.arange(len(probabilities)) < n, probabilities, 0)
    return kept / kept.sum()


@torch.no_grad()
def beam_tree(
    next_logits: Callable[[str], Tensor], vocabulary: str, text: str, *, n_symbols: int = 3, width: int = 2
) -> Diagram:
    """The beginnings that a beam search looks at, and those that it keeps.

    Args:
        next_logits: Of the symbol after a text, `(vocab_size,)`.
        vocabulary: The character of each symbol.
        text: What the model has read.
        n_symbols: How many a search writes: a column each, at most 3.
        width: How many beginnings are kept, and how many continuations of each are drawn.

    Returns:
        The diagram, with one number for each beginning that was looked at, named by its characters: its probability.
        What a step keeps is framed.
    """
    steps = _search(next_logits, vocabulary, text, n_symbols, width)
    greedy = [begun for [(begun, _, _), *_] in _search(next_logits, vocabulary, text, n_symbols, 1)]
    told = " ".join(
        f"Symbol {number}: "
        + ", ".join(f"{_visible(begun)} {p:.3f} ({'kept' if kept else 'dropped'})" for begun, p, kept in step)
        + "."
        for number, step in enumerate(steps, 1)
    )
    picture = Diagram(
        f"A beam of {width} continues {_visible(text)} by {n_symbols} symbols. In each step the likeliest "
        f"continuations of the kept beginnings are compared, and {width} are kept. {told} Greedy decoding writes "
        f"{_visible(greedy[-1])}.",
        height=TOP + ROW * width * width,
    )
    picture.text(0, 14, f"a beam of {width} after {_visible(text)}", bold=True)
    likeliest = max(steps[-1], key=lambda node: node[1])
    ends = {"": (0, TOP + ROW * (width * width - 1) / 2 + 13)}
    for column, step in enumerate(steps):
        x = 18 + column * COLUMN
        picture.text(x + 60, 40, f"symbol {column + 1}", anchor="middle", quiet=True)
        for row, (begun, p, kept) in enumerate(step):
            y = TOP + ROW * (row if column else (row + 0.5) * width - 0.5)
            node = _node(picture, x, y, begun, p, kept)
            picture.arrow(ends[begun[:-1]], (x + 4, y + 13), dashed=not kept)
            ends[begun] = node.right
            if column == n_symbols - 1 and begun in (likeliest[0], greedy[-1]):
                name = "likeliest" if begun == likeliest[0] else "greedy"
                picture.text(node.right[0] + 8, y + 13, name)
    return picture


def _search(next_logits, vocabulary: str, text: str, n_symbols: int, width: int) -> list[list[tuple[str, float, bool]]]:
    """For each step its candidates: what was written, the probability of that, and whether it is kept."""
    steps, kept = [], [("", 0.0)]
    for _ in range(n_symbols):
        candidates = []
        for begun, score in kept:
            gain, symbol = next_logits(text + begun).log_softmax(-1).topk(width)
            pairs = zip(gain.tolist(), symbol.tolist(), strict=True)
            candidates += [(begun + vocabulary[i], score + more) for more, i in pairs]
        least = sorted(score for _, score in candidates)[-width]
        steps.append([(begun, math.exp(score), score >= least) for begun, score in candidates])
        kept = [(begun, score) for begun, score in candidates if score >= least]
    return steps


def _node(picture: Diagram, x: float, y: float, begun: str, probability: float, kept: bool) -> Area:
    picture.text(x + 42, y + 13, _visible(begun), anchor="end", bold=kept)
    cell = picture.tensor(
        x + 47, y, [probability], name=_visible(begun), cell=(42, 26), numbers=True, largest=0.25, tone="weights"
    )
    if kept:
        picture.frame(cell, margin=1)
    return cell


def _visible(text: str) -> str:
    return "".join(VISIBLE.get(character, character) for character in text)
