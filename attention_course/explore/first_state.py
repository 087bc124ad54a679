"""The maps as they stand before a script runs: plain SVG, without a style or a script of its own."""

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

import numpy as np

CELL = 24
SMALL_CELL = 14  # with more tokens than fit a page in large ones
LETTER = 7.2
LONGEST = 24  # letters of a label; of a longer one the first are shown
NAME = 16  # height of a name
FEW, LABELLED = 24, 64  # tokens with large cells, and with labels
LEVELS, FEW_LEVELS = 20, 8
MANY = 2**16  # cells, which are drawn in few levels
AXES = "rows are queries, columns are keys"
RAMP = (0, 0.25, 0.5, 0.75, 1)
LEGEND = 44  # height of the two lines that tell how to read a map
LEGEND_SCALE = 640  # width from which on a picture, and so its legend, is made smaller to fit a page


def draw_maps(
    weights: np.ndarray,
    queries: list[str],
    keys: list[str],
    gold: np.ndarray | None,
    alt: str,
    names: Sequence[str] = (),
    columns: int = 4,
    faint: bool = False,
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
        faint: Whether weak weights have stronger shades: each that of its square root.

    Returns:
        An SVG element, for HTML.
    """
    heads, n_queries, n_keys = weights.shape
    most = max(n_queries, n_keys)
    labelled = heads == 1 and most <= LABELLED
    if labelled:
        queries, keys = [*map(_shorten, queries)], [*map(_shorten, keys)]
    left, top = (_room(queries), _room(keys)) if labelled else (1, 1)
    cell = (CELL if most <= FEW else SMALL_CELL) if labelled else max(2, min(CELL, 160 // n_keys))
    top += NAME if names else 0
    width = left + max(n_keys * cell, _room(names) if names else 0) + 8
    height = top + n_queries * cell + 8
    columns = min(heads, columns)
    rows = -(-heads // columns)
    levels = LEVELS if weights.size <= MANY else FEW_LEVELS
    shades = np.sqrt(weights) if faint else weights
    maps = "".join(
        f'<g transform="translate({(head % columns) * width + left} {(head // columns) * height + top})">'
        f"{_map(shades[head], cell, levels)}{_gold(gold, cell) if gold is not None and cell > 6 else ''}"
        f"{_labels(queries, keys, cell) if labelled else ''}"
        f"{_name(names[head], top) if names else ''}</g>"
        for head in range(heads)
    )
    legend, needed_width, needed_height = _legend(columns * width, rows * height, faint)
    size = f'width="{needed_width}" height="{needed_height}" viewBox="0 0 {needed_width} {needed_height}"'
    return f'<svg role="img" aria-label="{escape(alt)}" {size} fill="currentColor" font-size="12">{maps}{legend}</svg>'


def draw_layers(weights, queries, keys, gold, alt, layer: int = 0, head: int = 0, faint: bool = False) -> str:
    """The maps of `(layers, heads, n_queries, n_keys)`: those of all, or of the one layer or head, counted from 1."""
    layers, heads, *shape = weights.shape
    numbers = [(layer or i, head or j) for i in range(1, layers + 1) for j in range(1, heads + 1)]
    names = [f"layer {i}, head {j}" if layers > 1 or layer else f"head {j}" for i, j in numbers]
    named = len(numbers) > 1 or layer or head
    columns = 4 if 1 in (layers, heads) else heads
    faint &= weights.size <= MANY  # as many cells with a shade of their own would be megabytes
    return draw_maps(weights.reshape(-1, *shape), queries, keys, gold, alt, names if named else (), columns, faint)


def _shorten(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _room(labels: Sequence[str]) -> int:
    """What the longest takes, in a font that nobody knows here."""
    return int(max(LETTER * sum(map(_letters, label)) for label in labels) + 10)


def _letters(character: str) -> float:
    """As how many it counts: capitals are wider, and Chinese ones and emoji nearly twice as wide."""
    if east_asian_width(character) in "WF":
        return 1.8
    return 1.4 if character.isupper() else 1


def _legend(width: int, height: int, faint: bool) -> tuple[str, int, int]:
    """How to read maps that take so much room, to stand below them; and the room of maps and legend together."""
    scale = max(1, width / LEGEND_SCALE)
    ramp = 16 * len(RAMP)
    shades = (f'<rect x="{16 * i}" width="16" height="12" fill-opacity="{weight}"/>' for i, weight in enumerate(RAMP))
    legend = (
        f'<g transform="translate(0 {height}) scale({scale:g})"><text x="1" y="14">{AXES}</text>'
        f'<text x="1" y="34">weight 0</text><g transform="translate(60 24)">{"".join(shades)}'
        f'<rect width="{ramp}" height="12" fill="none" stroke="currentColor"/></g>'
        f'<text x="{60 + ramp + 6}" y="34">1{" (middle: 0.25)" if faint else ""}</text></g>'
    )
    return legend, max(width, _room([AXES])), height + round(LEGEND * scale)


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
    """Each run of cells in a row, in units of a cell, each from where the one before it ended: that is shortest."""
    edges = np.diff(which.astype(np.int8), axis=1, prepend=0, append=0)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    moves = (starts - np.vstack([[[0, 0]], ends[:-1]])).tolist()
    lengths = (ends - starts)[:, 1].tolist()
    return "".join(f"m{x} {y}h{length}" for (y, x), length in zip(moves, lengths, strict=True))


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
