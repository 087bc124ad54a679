"""What a query that may see nothing attends to."""

from collections.abc import Mapping

from torch import Tensor

from attention_course.diagrams.diagram import Diagram


def empty_rows(weights: Mapping[str, Mapping[str, Tensor]]) -> Diagram:
    """What a query that may see nothing attends to, for each number filled in and each dtype.

    Args:
        weights: By what is filled in, then by dtype, the weights `(n_keys,)` of the query.
    """
    dtypes = list(next(iter(weights.values())))
    picture = Diagram(
        "The weights of a query that may attend to none of its keys. "
        + " ".join(
            f"{fill}: {', '.join(f'{dtype} {_in_words(row)}' for dtype, row in by_dtype.items())}."
            for fill, by_dtype in weights.items()
        ),
        height=34 + 48 * len(weights),
    )
    for column, dtype in enumerate(dtypes):
        picture.text(122 + 120 * column + 56, 11, dtype, anchor="middle", bold=True)
    for row, (fill, by_dtype) in enumerate(weights.items()):
        top = 32 + 48 * row
        picture.text(4, top + 17, fill)
        for column, (dtype, shown) in enumerate(by_dtype.items()):
            x = 122 + 120 * column
            if shown.isnan().any():
                picture.box(x, top, 112, 34, "NaN", tone="key")
            else:
                picture.tensor(x, top, shown.float(), name=f"{fill}, {dtype}", cell=(28, 34), numbers=True, largest=1)
    return picture


def _in_words(row: Tensor) -> str:
    if row.isnan().any():
        return "NaN"
    return "zeros" if not row.any() else f"{row.float().max():.2f} each"
