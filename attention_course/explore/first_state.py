"""The maps as they stand before a script runs: plain SVG, without a style or a script of its own."""

from html import escape

import numpy as np

CELL = 24
LETTER = 7.2
LABELLED = 24  # with more tokens than this, a label would not fit its cell
LEVELS = 20


def draw_maps(weights: np.ndarray, queries: list[str], keys: list[str], gold: np.ndarray | None, alt: str) -> str:
    """One map for each head, side by side.

    Args:
        weights: `(heads, n_queries, n_keys)`.
        queries: Labels of the rows.
        keys: Labels of the columns.
        gold: Boolean `(n_queries, n_keys)`, cells to frame, or `None`.
        alt: What the maps show, in words.

    Returns:
        An SVG element, for HTML.
    """
    heads, n_queries, n_keys = weights.shape
    labelled = heads == 1 and max(n_queries, n_keys) <= LABELLED
    left, top = (_room(queries), _room(keys)) if labelled else (1, 1)
    cell = CELL if labelled else max(2, min(CELL, 160 // n_keys))
    width, height = left + n_keys * cell + 8, top + n_queries * cell + 8
    columns = min(heads, 4)
    rows = -(-heads // columns)
    maps = "".join(
        f'<g transform="translate({(head % columns) * width + left} {(head // columns) * height + top})">'
        f"{_map(weights[head], cell, gold if cell > 6 else None)}{_labels(queries, keys, cell) if labelled else ''}</g>"
        for head in range(heads)
    )
    size = f'width="{columns * width}" height="{rows * height}" viewBox="0 0 {columns * width} {rows * height}"'
    return f'<svg role="img" aria-label="{escape(alt)}" {size} fill="currentColor" font-size="12">{maps}</svg>'


def _room(labels: list[str]) -> int:
    return int(min(100, LETTER * max(map(len, labels))) + 10)


def _map(weights: np.ndarray, cell: int, gold: np.ndarray | None) -> str:
    """A path for each of twenty shades: many times shorter than an element a cell."""
    shades = np.rint(weights * LEVELS).astype(int)
    paths = [
        f'<path fill-opacity="{level / LEVELS:g}" d="{_squares(shades == level, cell)}"/>'
        for level in range(1, LEVELS + 1)
        if (shades == level).any()
    ]
    frame = f'<rect width="{weights.shape[1] * cell}" height="{weights.shape[0] * cell}"'
    paths.append(f'{frame} fill="none" stroke="currentColor" stroke-opacity="0.4"/>')
    if gold is not None:
        outline = 'fill="none" stroke="currentColor" stroke-width="2"'
        paths.append(f'<path {outline} d="{_squares(gold, cell, inset=2)}"/>')
    return "".join(paths)


def _squares(which: np.ndarray, cell: int, inset: int = 0) -> str:
    side = cell - 2 * inset
    corners = ((column * cell + inset, row * cell + inset) for row, column in np.argwhere(which))
    return "".join(f"M{x} {y}h{side}v{side}h-{side}z" for x, y in corners)


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
