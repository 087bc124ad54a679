"""A layer of two heads at work on a few tokens, what two ways of cutting do to them, and a token that is a sum."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from attention_course.diagrams.diagram import Diagram, Grid

WIDE = 176  # of a row of d_model cells; a head's is half as wide in the joined rows
NARROW = 56  # of a row of d_head cells inside a head
LINED, LEVEL = 352, 36  # of a token's cells in a sum, and from one row of it to the next


@torch.no_grad()
def multi_head(layer: nn.Module, tokens: Tensor, names: Sequence[str]) -> Diagram:
    """What a layer with two heads computes: split, attend, join.

    Args:
        layer: With `n_heads`, `query_proj`, `key_proj`, `value_proj` and `out_proj`: the package's or a reader's own.
        tokens: `(n, d_model)`, a handful of them.
        names: One for each token.

    Raises:
        ValueError: If the layer has not two heads.
    """
    if layer.n_heads != 2:
        raise ValueError(f"layer must have 2 heads, got {layer.n_heads}")
    picture = Diagram(
        f"One layer with two heads, run on {len(names)} tokens. Each is a row of coloured cells. Below it the rows "
        "are cut into two halves, head 1 and head 2. Each head has its own queries, keys and values, its own map of "
        "weights, and its own output. The two outputs are laid side by side into rows of the full width, and the "
        "output projection turns these into the output.",
        height=584,
    )
    shape = f"{tokens.size(0)} × {tokens.size(1)}"
    rows = _rows(picture, 6, tokens, "tokens", names, shape)
    x, y = rows.bottom
    for middle in (118, 362):
        picture.arrow((x, y), (x, y + 14), (middle, y + 14), (middle, y + 42))
    picture.text(x, y + 30, "project and split", anchor="middle", quiet=True)

    query, key, value = (
        projection(tokens).unflatten(-1, (2, -1)).transpose(0, 1)  # (2, n, d_head)
        for projection in (layer.query_proj, layer.key_proj, layer.value_proj)
    )
    weights = (query @ key.transpose(-2, -1) / key.size(-1) ** 0.5).softmax(-1)
    outputs = weights @ value
    for number, (left, *parts) in enumerate(zip((4, 248), query, key, value, weights, outputs, strict=True), 1):
        _head(picture, left, y + 42, number, *parts)

    joined = torch.cat(list(outputs), dim=-1)
    top = 400
    first, second = ((190, top - 76), (190, top)), ((434, top - 76), (434, top - 14), (284, top - 14), (284, top))
    for number, (arrow, half) in enumerate(zip((first, second), outputs, strict=True), 1):
        picture.arrow(*arrow)
        left, labels = (149, names) if number == 1 else (149 + WIDE / 2 + 6, ())
        cell = (WIDE / joined.size(1), 72 / len(names))
        picture.tensor(left, top, half, name=f"half of head {number}", cell=cell, rows=labels, tone="output")
    _label(picture, top, "side by side", shape)
    output = _rows(picture, 506, layer.out_proj(joined), "output", names, shape)
    picture.arrow((output.top[0], top + 72), output.top, label="W_O")
    return picture


def _rows(picture: Diagram, y: float, values: Tensor, name: str, names: Sequence[str], shape: str) -> Grid:
    """All tokens at the full width, with their names on the left and what they are on the right."""
    cell = (WIDE / values.size(1), 72 / values.size(0))
    grid = picture.tensor(152, y, values, name=name, cell=cell, rows=names)
    _label(picture, y, name, shape)
    return grid


def _label(picture: Diagram, y: float, name: str, shape: str):
    picture.text(340, y + 26, name, bold=True)
    picture.text(340, y + 47, shape, quiet=True)


def _head(picture: Diagram, left: float, top: float, number: int, query, key, value, weights, output):
    """One head in its box."""
    picture.box(left, top, 228, 256)
    picture.text(left + 114, top + 16, f"head {number}", anchor="middle", bold=True)
    cell = (NARROW / query.size(1), NARROW / query.size(0))
    parts = {"queries": (query, "query", 14), "keys": (key, "key", 86), "values": (value, "value", 158)}
    placed = []
    for name, (values, tone, x) in parts.items():
        picture.text(left + x + NARROW / 2, top + 38, name, anchor="middle")
        placed.append(picture.tensor(left + x, top + 50, values, name=f"{name} of head {number}", cell=cell, tone=tone))
    side = 80 / len(weights)
    grid = picture.tensor(
        left + 24, top + 136, weights, name=f"weights of head {number}", cell=side, tone="weights", largest=1
    )
    picture.text(grid.centre[0], top + 231, "weights", anchor="middle")
    end = picture.tensor(left + 158, top + 148, output, name=f"output of head {number}", cell=cell, tone="output")
    picture.text(end.centre[0] - 10, top + 219, "output", anchor="end")

    above = top + 121
    picture.arrow(placed[0].bottom, (placed[0].bottom[0], grid.y))
    picture.arrow(placed[1].bottom, (placed[1].bottom[0], above), (grid.x + 64, above), (grid.x + 64, grid.y))
    picture.arrow(placed[2].bottom, end.top)
    picture.arrow(grid.right, end.left)


def cuts(tokens: Tensor, names: Sequence[str], split: Callable, wrong_split: Callable) -> Diagram:
    """What two ways of cutting the same tokens into two heads give, side by side.

    Args:
        tokens: `(4, 4)` whole numbers that say whose they are.
        names: One for each token.
        split: `split(tokens, n_heads)` takes `(1, 4, 4)` and returns `(1, 2, 4, 2)`.
        wrong_split: Another one, which is wrong.
    """
    picture = Diagram(
        "A right cut and a wrong one of the same four tokens, each a row of four numbers. In the right cut, row 3 of "
        "head 1 holds the first two numbers of token 3. In the wrong cut, head 1 holds all the numbers of tokens 1 "
        "and 2, and its four rows are halves of these two tokens.",
        height=330,
    )
    rows = picture.tensor(176, 6, tokens, name="tokens", cell=(36, 26), numbers=True, rows=names)
    for x, title, cut in ((12, "cut, then swap", split), (256, "reshaped at once", wrong_split)):
        picture.arrow(rows.bottom, (rows.bottom[0], 124), (x + 106, 124), (x + 106, 146))
        picture.text(x + 106, 160, title, anchor="middle", bold=True)
        heads = cut(tokens[None], 2)[0]
        for number, (left, head) in enumerate(zip((x + 12, x + 120), heads, strict=True), 1):
            name = f"{title}: head {number}"
            picture.text(left + 40, 186, f"head {number}", anchor="middle")
            area = picture.tensor(left, 200, head, name=name, cell=(40, 28), numbers=True, largest=tokens.max().item())
            if number == 1:
                picture.frame(area)
    return picture


def sum_of_embeddings(parts: Mapping[str, Tensor], name: str) -> Diagram:
    """A token that is the sum of several embeddings, each a row of cells.

    Args:
        parts: By what they say, the embeddings, `(d_model,)` each.
        name: Of the token.

    Returns:
        The diagram, with a tensor for each of the parts and one for their sum, under their names.

    Raises:
        ValueError: If there are fewer than two parts, or they differ in shape.
    """
    shapes = {tuple(part.shape) for part in parts.values()}
    if len(parts) < 2 or len(shapes) != 1:
        raise ValueError(f"parts must be two embeddings or more of one shape, got {len(parts)} of {sorted(shapes)}")
    rows = {**parts, name: sum(parts.values())}
    (width,) = shapes.pop()
    picture = Diagram(
        f"A token is a sum of {len(parts)} embeddings. Each is a row of {width} coloured cells: {', '.join(parts)}. "
        f"The row below them is their sum, {name}, which the layer is given.",
        height=LEVEL * len(rows),
    )
    largest = max(row.abs().max().item() for row in rows.values())
    cell = (LINED / width, LEVEL - 12)
    for number, (what, row) in enumerate(rows.items()):
        is_sum, y = number == len(parts), 4 + LEVEL * number
        if number:
            picture.text(8, y + cell[1] / 2, "=" if is_sum else "+", bold=True)
        picture.text(26, y + cell[1] / 2, what, bold=is_sum)
        picture.tensor(480 - LINED - 2, y, row, name=what, cell=cell, largest=largest)
    return picture
