"""What methods say about one drawer, beside the truth; and how much of the truth each finds, model by model."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_course.diagrams.diagram import Diagram
from attention_course.support.arrays import as_array

LEFT = 162  # where the cells begin, right of the methods' names
CELL = 20
TALL = 40  # of a row with two lines


def methods(scores: Mapping[str, Sequence[float]], words: Sequence[str], gold: Sequence[bool]) -> Diagram:
    """What each method says about the words of one example: a row a method, a column a word, what decides framed.

    Args:
        scores: For each method `(n,)` numbers, none below 0; each row is drawn in shares of its largest.
        words: `(n,)`.
        gold: Boolean `(n,)`: the words that decide.
    """
    table = np.stack([as_array(row) for row in scores.values()]).astype(float)
    gold = as_array(gold)
    largest = table.max(1, keepdims=True)
    highest = table.argsort(1)[:, ::-1][:, : gold.sum()]  # as many words as decide
    found = gold[highest].sum(1)
    deciding = " and ".join(word for word, decides in zip(words, gold, strict=True) if decides)
    picture = Diagram(
        f"What {len(table)} methods say about one drawer of {len(words)} words. Each row is a method, each column a "
        f"word, and the words that decide, {deciding}, are framed. A strong colour says that the method scores the "
        "word high. On the right stands how many of the framed words are among the highest of the row: "
        + ", ".join(f"{method} {count}" for method, count in zip(scores, found, strict=True))
        + ".",
        height=90 + 26 * len(table),
    )
    top = 78
    grid = picture.tensor(
        LEFT,
        top,
        table / np.where(largest, largest, 1),
        name="scores",
        cell=(CELL, 26),
        rows=list(scores),
        columns=list(words),
    )
    for column in np.flatnonzero(gold):
        picture.frame(grid.column(int(column)), margin=1)
    picture.text(grid.x + grid.width + 10, top - 14, "found", bold=True)
    for row, count in enumerate(found):
        picture.text(grid.x + grid.width + 10, top + 26 * (row + 0.5), f"{count} of {gold.sum()}")
    return picture


def found(title: str, shares: Mapping[str, Mapping[str, Sequence[float]]]) -> Diagram:
    """The share of the truth that each method finds: a row a method, a column a model; of several seeds the median
    stands above the lowest and the highest.

    Args:
        title: What was looked through, in a few words.
        shares: For each model, for each method, the share found by each seed; none if all of the method's scores are 0
            but for rounding. Every model has the same methods.
    """
    names = list(next(iter(shares.values())))
    table = np.array([[_median(of_model[method]) for of_model in shares.values()] for method in names])
    width = (480 - LEFT - 4) / len(shares)
    picture = Diagram(
        f"{title}: the share of the deciding words that each of {len(names)} rows finds, in {len(shares)} models. A "
        "stronger colour is a larger median share. "
        + " ".join(
            f"{model}: " + ", ".join(f"{method} {_in_words(runs)}" for method, runs in of_model.items()) + "."
            for model, of_model in shares.items()
        ),
        height=36 + TALL * len(names),
    )
    top = 32
    picture.text(4, 16, title, bold=True)
    grid = picture.tensor(LEFT, top, table, name="found", cell=(width, TALL), largest=1.25, rows=names)
    for column, (model, of_model) in enumerate(shares.items()):
        picture.text(LEFT + (column + 0.5) * width, 16, model, anchor="middle", bold=True)
        for row, method in enumerate(names):
            x, y = grid.cell(row, column).centre
            runs = of_model[method]
            if len(runs) > 1:
                picture.text(x, y - 9, f"{_median(runs):.0%}", anchor="middle", bold=True)
                picture.text(x, y + 9, _range(runs), anchor="middle", quiet=True)
            else:
                picture.text(x, y, f"{runs[0]:.0%}" if runs else "all ≈ 0", anchor="middle", bold=bool(runs))
    return picture


def _median(runs: Sequence[float]) -> float:
    return float(np.median(runs)) if runs else 0.0


def _range(runs: Sequence[float]) -> str:
    low, high = f"{min(runs):.0%}", f"{max(runs):.0%}"
    return high if low == high else f"{low[:-1]}–{high}"


def _in_words(runs: Sequence[float]) -> str:
    if not runs:
        return "has scores near 0 only"
    return f"{_median(runs):.0%}" + (f" ({_range(runs)})" if len(runs) > 1 else "")
