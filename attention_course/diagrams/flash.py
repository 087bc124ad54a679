"""Two memories, and one tile of keys and values on its way between them."""

import math

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram

CELL, ROW = 20, 15  # a number in the large memory, and in the small one
TOP, SMALL = 62, 268  # where the tensors of the large memory begin, and the box of the small one
LEFT = {"Q": 44, "K": 152, "V": 260, "output": 386}
EXPONENTIAL = (33, 22)
NUMBER = 4  # bytes


@torch.no_grad()
def two_memories(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Diagram:
    """Attention in tiles at the moment when the first queries have met their last tile of keys.

    Args:
        query: `(n, d)`.
        key: `(n, d)`.
        value: `(n, d)`.
        tile: How many queries, and how many keys, are in the small memory at a time: a divisor of `n`.

    Raises:
        ValueError: If there are not whole tiles, at least two of them.
    """
    n, d = query.shape
    if n % tile or n == tile:
        raise ValueError(f"tile must divide n = {n} into two parts or more, got {tile}")
    largest, total, out, exponentials, moved = _first_queries(query, key, value, tile)
    last = slice(n - tile, n)
    finished = torch.zeros_like(value)
    finished[:tile] = out / total
    everything = moved * (n // tile)
    materialised = NUMBER * (4 * n * n + 4 * n * d)
    picture = Diagram(
        f"Two memories: a large, slow one and a small, fast one. The large one holds queries, keys, values and the "
        f"output of {n} tokens. The small one holds {tile} queries, and of keys and values the {tile} that arrows "
        f"bring over. From them it makes {tile} times {tile} exponentials of scores, and for each query it keeps the "
        f"largest score m, the sum l and the output o. An arrow leads back to the first {tile} rows of the output. "
        f"The full square of {n} times {n} weights is in neither memory. In all {everything:,} bytes move, and "
        f"{materialised:,} where scores and weights are stored.",
        height=494,
    )
    picture.box(2, 24, 476, 176)
    picture.text(8, 12, "large and slow", bold=True)
    picture.box(2, SMALL, 476, 170)
    picture.text(14, SMALL + 152, "small and fast", bold=True)

    large = {}
    for name, numbers, tone in (
        ("Q", query, "query"),
        ("K", key, "key"),
        ("V", value, "value"),
        ("output", finished, "output"),
    ):
        x = LEFT[name]
        large[name] = picture.tensor(x, TOP, numbers, name=name, cell=(CELL, ROW), tone=tone)
        picture.text(x + CELL * d / 2, TOP - 19, name, anchor="middle", bold=True)
    held = {"Q": slice(0, tile), "K": last, "V": last, "output": slice(0, tile)}
    for name, rows in held.items():
        picture.frame(_rows(large[name], rows), margin=2)

    y, half = SMALL + 44, EXPONENTIAL[1]
    scale = {"cell": (16, half)}
    columns = {"q": 14, "k": 84, "exponentials": 154, "v": 300, "m": 362, "l": 388, "o": 420}
    picture.tensor(columns["q"], y, query[held["Q"]], name="q", tone="query", **scale)
    picture.tensor(columns["k"], y, key[last], name="k", tone="key", **scale)
    picture.tensor(
        columns["exponentials"],
        y,
        exponentials,
        name="exponentials",
        cell=EXPONENTIAL,
        tone="weights",
        numbers=True,
        largest=1,
    )
    picture.tensor(columns["v"], y, value[last], name="v", tone="value", **scale)
    picture.tensor(columns["m"], y, largest, name="m", cell=(22, half), tone="plain")
    picture.tensor(columns["l"], y, total, name="l", cell=(22, half), tone="plain")
    picture.tensor(columns["o"], y, out, name="o", tone="output", **scale)
    places = {"q": 14 + 8 * d, "k": 84 + 8 * d, "exponentials": 154 + EXPONENTIAL[0] * tile / 2, "v": 300 + 8 * d}
    places |= {"m": 373, "l": 399, "o": 420 + 8 * d}
    for name, x in places.items():
        picture.text(x, y - 14, {"l": "ℓ"}.get(name, name), anchor="middle", bold=True)

    tile_bytes = NUMBER * tile * d
    for name, there in (("Q", "q"), ("K", "k"), ("V", "v")):
        x = large[name].bottom[0]
        picture.arrow((x, large[name].bottom[1] + 5), (places[there], y - 24))
        leans = x > places[there]  # to the left, so that there is room on the right
        picture.text(x + 8 if leans else x - 2, 212, f"{tile_bytes} B", anchor="start" if leans else "end")
    x = large["output"].bottom[0]
    picture.arrow((places["o"], y - 24), (x, large["output"].bottom[1] + 5))
    picture.text(x + 24, 212, f"{tile_bytes} B")
    picture.text(x + 24, 230, "o / ℓ")

    picture.text(4, SMALL + 190, f"moved in all: {everything:,} bytes")
    picture.text(4, SMALL + 212, f"with {n} × {n} scores and weights stored: {materialised:,} bytes")
    return picture


def _first_queries(query, key, value, tile):
    """What the first tile of queries has after its last tile of keys, and the bytes that were moved for it."""
    n, d = query.shape
    q = query[:tile]
    moved = q.numel()
    largest = torch.full((tile, 1), -math.inf)
    total, out = torch.zeros(tile, 1), torch.zeros(tile, value.size(1))
    for start in range(0, n, tile):
        k, v = key[start : start + tile], value[start : start + tile]
        moved += k.numel() + v.numel()
        scores = q @ k.T / math.sqrt(d)
        new_largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
        factor, exponentials = (largest - new_largest).exp(), (scores - new_largest).exp()
        total, out = factor * total + exponentials.sum(-1, keepdim=True), factor * out + exponentials @ v
        largest = new_largest
    return largest, total, out, exponentials, NUMBER * (moved + out.numel())


def _rows(grid, rows: slice) -> Area:
    first, last = grid.row(rows.start), grid.row(rows.stop - 1)
    return Area(first.x, first.y, first.width, last.y + last.height - first.y)
