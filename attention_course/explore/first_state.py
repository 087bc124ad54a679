"""The maps as they stand before a script runs: plain SVG, without a style or a script of its own."""

from collections.abc import Sequence
from html import escape

import numpy as np

CELL = 24
SMALL_CELL = 14  # with more tokens than fit a page in large ones
LETTER = 7.2
NAME = 16  # height of a name
FEW, LABELLED = 24, 64  # tokens with large cells, and with labels
LEVELS, FEW_LEVELS = 20, 5
MANY = 16  # maps, which are drawn in few levels, for there are many cells


def draw_maps(
    weights: np.ndarray,
    queries: list[str],
    keys: list[str],
    gold: np.ndarray | None,
    alt: str,
    names: Sequence[str] = (),
    columns: int = 4,
) -> str:
    """One map for each head, side by side.

    Args:
        weights: `(heads, n_queries, n_keys)`.
        queries: Labels of the rows.
        keys: Labels of the columns.
        gold: Boolean `(n_queries, n_keys)`, cells to frame, or `None`.
        alt: What the maps show, in words.
        names: Of the heads, to stand above their maps.
        columns: How many maps stand side by side at most.

    Returns:
        An SVG element, for HTML.
    """
    heads, n_queries, n_keys = weights.shape
    most = max(n_queries, n_keys)
    labelled = heads == 1 and most <= LABELLED
    left, top = (_room(queries), _room(keys)) if labelled else (1, 1)
    cell = (CELL if most <= FEW else SMALL_CELL) if labelled else max(2, min(CELL, 160 // n_keys))
    top += NAME if names else 0
    width, height = left + n_keys * cell + 8, top + n_queries * cell + 8
    columns = min(heads, columns)
    rows = -(-heads // columns)
    levels = LEVELS if heads <= MANY else FEW_LEVELS
    maps = "".join(
        f'<g transform="translate({(head % columns) * width + left} {(head // columns) * height + top})">'
        f"{_map(weights[head], cell, levels)}{_gold(gold, cell) if gold is not None and cell > 6 else ''}"
        f"{_labels(queries, keys, cell) if labelled else ''}"
        f"{_name(names[head], top) if names else ''}</g>"
        for head in range(heads)
    )
    size = f'width="{columns * width}" height="{rows * height}" viewBox="0 0 {columns * width} {rows * height}"'
    return f'<svg role="img" aria-label="{escape(alt)}" {size} fill="currentColor" font-size="12">{maps}</svg>'


def draw_layers(weights, queries, keys, gold, alt, layer: int = 0, head: int = 0) -> str:
    """The maps of `(layers, heads, n_queries, n_keys)`: those of all, or of the one layer or head, counted from 1."""
    layers, heads, *shape = weights.shape
    numbers = [(layer or i, head or j) for i in range(1, layers + 1) for j in range(1, heads + 1)]
    names = [f"layer {i}, head {j}" if layers > 1 or layer else f"head {j}" for i, j in numbers]
    named = len(numbers) > 1 or layer or head
    columns = 4 if 1 in (layers, heads) else heads
    return draw_maps(weights.reshape(-1, *shape), queries, keys, gold, alt, names if named else (), columns)


def _room(labels: list[str]) -> int:
    return int(min(100, LETTER * max(map(len, labels))) + 10)


def _name(name: str, top: int) -> str:
    return f'<text x="0" y="{NAME - 4 - top}">{escape(name)}</text>'


def _map(weights: np.ndarray, cell: int, levels: int) -> str:
    """A path for each shade, one stroke for neighbours in a row: many times shorter than an element a cell."""
    shades = np.rint(weights * levels).astype(int)
    paths = "".join(
        f'<path stroke-opacity="{level / levels:g}" d="{_strokes(shades == level)}"/>'
        for level in range(1, levels + 1)
        if (shades == level).any()
    )
    shaded = f'<g transform="scale({cell}) translate(0 .5)" fill="none" stroke="currentColor">{paths}</g>'
    frame = f'<rect width="{weights.shape[1] * cell}" height="{weights.shape[0] * cell}"'
    return f'{shaded}{frame} fill="none" stroke="currentColor" stroke-opacity="0.4"/>'


def _strokes(which: np.ndarray) -> str:
    """Each run of cells in a row, in units of a cell."""
    edges = np.diff(which.astype(np.int8), axis=1, prepend=0, append=0)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    return "".join(f"M{x} {y}h{end - x}" for (y, x), (_, end) in zip(starts.tolist(), ends.tolist(), strict=True))


def _gold(gold: np.ndarray, cell: int) -> str:
    squares = "".join(
        f"M{column * cell + 2} {row * cell + 2}h{cell - 4}v{cell - 4}h-{cell - 4}z" for row, column in np.argwhere(gold)
    )
    return f'<path fill="none" stroke="currentColor" stroke-width="2" d="{squares}"/>'


def _labels(queries: list[str], keys: list[str], cell: int) -> str:
    rows = (
        f'<text x="-6" y="{(row + 0.5) * cell + 4:g}" text-anchor="end">{escape(label)}</text>'
        for row, label in enumerate(queries)
    )
    columns = (
        f'<text transform="translate({(column + 0.5) * cell + 4:g} -6) rotate(-90)">{escape(label)}</text>'
        for column, label in enumerate(keys)
    )
    return "".join((*rows, *columns))
