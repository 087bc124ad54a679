"""One distribution over the next symbol, and what the ways of writing cut from it."""

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram

SHOWN = 8  # symbols with a column of their own
LEFT, CELL, HEIGHT = 134, 38, 30
VISIBLE = {" ": "\N{OPEN BOX}", "\n": "\N{RETURN SYMBOL}"}


def cut_distribution(logits: Tensor, vocabulary: str, text: str, *, k: int = 3, p: float = 0.6) -> Diagram:
    """The probabilities of the next symbol as they are, at two temperatures, and cut by top-k and top-p.

    Args:
        logits: Of the symbol after the text, `(n_symbols,)`, more than 8 of them.
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
    names = [VISIBLE.get(character, character) for character in (vocabulary[i] for i in order[:SHOWN].tolist())]
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
    end = "".join(VISIBLE.get(character, character) for character in text[-30:])
    picture.text(0, 14, f"what comes after {end}", bold=True)
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
