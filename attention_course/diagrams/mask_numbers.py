"""What a query that may see nothing attends to."""

from collections.abc import Mapping

from torch import Tensor

from attention_course.diagrams.diagram import Diagram


def empty_rows(weights: Mapping[str, Mapping[str, Tensor]]) -> Diagram:
    """What a query that may see nothing attends to, for each way to hide its keys and each dtype.

    Args:
        weights: By the way, of one line or two, then by dtype, the weights `(n_keys,)` of the query.
    """
    dtypes = list(next(iter(weights.values())))
    picture = Diagram(
        "The weights of a query that may attend to none of its keys. "
        + " ".join(
            f"{_one_line(way)}: {', '.join(f'{dtype} {_in_words(row)}' for dtype, row in by_dtype.items())}."
            for way, by_dtype in weights.items()
        ),
        height=34 + 48 * len(weights),
    )
    for column, dtype in enumerate(dtypes):
        picture.text(122 + 120 * column + 56, 11, dtype, anchor="middle", bold=True)
    for row, (way, by_dtype) in enumerate(weights.items()):
        top = 32 + 48 * row
        lines = way.split("\n")
        for number, line in enumerate(lines):
            picture.text(4, top + 17 + 18 * (number - (len(lines) - 1) / 2), line)
        for column, (dtype, shown) in enumerate(by_dtype.items()):
            x = 122 + 120 * column
            if shown.isnan().any():
                picture.box(x, top, 112, 34, "NaN", tone="key")
            else:
                picture.tensor(
                    x, top, shown.float(), name=f"{_one_line(way)}, {dtype}", cell=(28, 34), numbers=True, largest=1
                )
    return picture


def _one_line(way: str) -> str:
    return way.replace("-\n", "").replace("\n", " ")


def _in_words(row: Tensor) -> str:
    if row.isnan().any():
        return "NaN"
    if row.eq(row[0]).all():
        return f"{row[0]:.2f} each" if row.any() else "zeros"
    return ", ".join(f"{weight:.2f}" for weight in row)
