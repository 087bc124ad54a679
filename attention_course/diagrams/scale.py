"""The scores of one query on random keys of several widths, and what the softmax makes of them."""

from collections.abc import Sequence
from statistics import mean

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

WIDE, HIGH = 57, 26


def score_spread(queries: Sequence[Tensor], keys: Sequence[Tensor]) -> Diagram:
    """Raw and scaled scores of one query at several widths, each with its weights below.

    Args:
        queries: For each width a query `(d_k,)`.
        keys: For each width its keys `(n_keys, d_k)`; at most 6 keys.

    Returns:
        The diagram, with the tensors `scores, d_k = 4`, `weights, d_k = 4`, `divided scores, d_k = 4` and
        `divided weights, d_k = 4` for each width.
    """
    widths = [len(query) for query in queries]
    scores = [key @ query for query, key in zip(queries, keys, strict=True)]
    largest = max(score.abs().max().item() for score in scores)
    divided = [score / width**0.5 for score, width in zip(scores, widths, strict=True)]
    picture = Diagram(
        f"Scores spread with the width. One random query on {len(scores[0])} random keys of "
        f"{', '.join(map(str, widths))} numbers. The raw scores reach {_reach(scores)}, and the largest weights are "
        f"{_largest(scores)}. Divided by the square root of the width, the scores reach {_reach(divided)}, and the "
        f"largest weights are {_largest(divided)}.",
        height=2 * (34 + len(widths) * (2 * HIGH + 12)) + 4,
    )
    y = 18
    rows = (
        ("scores as they are, weights below", "", scores),
        ("the same, divided by the square root of d_k", "divided ", divided),
    )
    for heading, prefix, numbers in rows:
        picture.text(0, y, heading, bold=True)
        y += 20
        for width, score in zip(widths, numbers, strict=True):
            y = _row(picture, y, width, score, prefix, largest)
        y += 14
    return picture


def _row(picture: Diagram, y: float, width: int, scores: Tensor, prefix: str, largest: float) -> float:
    """Draw the scores of one width above their weights; the height of the next row."""
    size = {"cell": (WIDE, HIGH), "numbers": True}
    x = 480 - WIDE * len(scores) - 2
    picture.text(0, y + HIGH / 2, f"d_k = {width}")
    picture.text(0, y + 1.5 * HIGH, "weights", quiet=True)
    picture.tensor(x, y, scores, name=f"{prefix}scores, d_k = {width}", largest=largest, **size)
    picture.tensor(
        x, y + HIGH, scores.softmax(-1), name=f"{prefix}weights, d_k = {width}", largest=1, tone="weights", **size
    )
    return y + 2 * HIGH + 12


def _reach(scores: Sequence[Tensor]) -> str:
    return ", ".join(f"{score.abs().max():.1f}" for score in scores)


def _largest(scores: Sequence[Tensor]) -> str:
    return ", ".join(f"{score.softmax(-1).max():.2f}" for score in scores)


def rate_table(runs: Sequence[dict], steps: int = 300) -> Diagram:
    """Recorded accuracy by width and learning rate, with the scale above, without it below.

    Args:
        runs: Each with `width`, `scaled`, `rate`, `steps`, `seed` and `accuracy`.
        steps: Which runs to show: those with this number of steps.

    Returns:
        The diagram, with the tensors `with the scale` and `without the scale`, `(widths, rates)`: the mean over
        the seeds.
    """
    runs = [run for run in runs if run["steps"] == steps]
    widths, rates = (sorted({run[name] for run in runs}) for name in ("width", "rate"))
    tables = {
        name: [[_mean_accuracy(runs, width, rate, scaled) for rate in rates] for width in widths]
        for name, scaled in (("with the scale", True), ("without the scale", False))
    }
    said = " ".join(
        f"Width {width} {name} is above .9 at {_rates(rates, row)}."
        for name, table in tables.items()
        for width, row in zip(widths, table, strict=True)
    )
    height = 56 + len(widths) * 30
    picture = Diagram(f"Share of right answers by width and learning rate. {said}", height=2 * height + 8)
    for y, (name, table) in zip((14, 18 + height), tables.items(), strict=True):
        picture.text(0, y, name, bold=True)
        picture.text(476, y, "learning rate", anchor="end", quiet=True)
        picture.text(52, y + 30, "width", anchor="end", quiet=True)
        picture.tensor(
            58,
            y + 40,
            table,
            name=name,
            cell=(52, 30),
            numbers=True,
            largest=1,
            rows=[str(width) for width in widths],
            columns=[f"{rate:g}" for rate in rates],
        )
    return picture


def _mean_accuracy(runs: Sequence[dict], width: int, rate: float, scaled: bool) -> float:
    return mean(run["accuracy"] for run in runs if (run["width"], run["rate"], run["scaled"]) == (width, rate, scaled))


def _rates(rates: Sequence[float], accuracies: Sequence[float]) -> str:
    good = [f"{rate:g}" for rate, accuracy in zip(rates, accuracies, strict=True) if accuracy > 0.9]
    return "the rates " + ", ".join(good) if good else "no rate"
