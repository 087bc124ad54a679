"""Work that is spread over devices: four ways to cut it, and keys and values in a ring."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Diagram

SIDE = 26  # of a part of the batch or of the model
TEXTS, TOKENS, LAYERS, COLUMNS = 2, 4, 2, 4
TONE = {"A": "query", "B": "key", "AB": "plain"}
# For each cut: who holds which token of which text, and which column of which layer; and what has to travel.
CUTS = {
    "data": (lambda text, token: "AB"[text], lambda layer, column: "AB", "gradients, once a step"),
    "pipeline": (lambda text, token: "AB", lambda layer, column: "AB"[layer], "tokens, between layers"),
    "tensor": (lambda text, token: "AB", lambda layer, column: "AB"[2 * column // COLUMNS], "partial sums, each layer"),
    "context": (lambda text, token: "AB"[2 * token // TOKENS], lambda layer, column: "AB", "keys and values"),
}
PANEL = (240, 132)

BOX = (148, 96)
# Where devices stand in the ring, clockwise, and the arrows that lead on from each.
CORNERS = ((20, 30), (312, 30), (312, 206), (20, 206))


def four_cuts() -> Diagram:
    """Two texts and two layers on two devices, cut in each of four ways."""
    picture = Diagram(
        "Four ways to spread training over two devices, A and B. Each panel has a batch of two texts, a row each with "
        "a cell for each token, and a model of two layers, a row each with a cell for each part of its matrices. "
        "Letters say which device holds a cell. Data parallel: each device has one text and the whole model; gradients "
        "travel, once a step. Pipeline parallel: each device has one layer and works on all texts; tokens travel "
        "between layers. Tensor parallel: each device has half of every layer and works on all texts; partial sums "
        "travel in each layer. Context parallel: each device has half of the tokens of each text and the whole model; "
        "keys and values travel.",
        height=2 * PANEL[1] + 4,
    )
    for number, (name, (of_texts, of_layers, travels)) in enumerate(CUTS.items()):
        x, y = number % 2 * PANEL[0] + 4, number // 2 * PANEL[1]
        picture.text(x, y + 14, f"{name} parallel", bold=True)
        _cells(picture, x, y + 28, TEXTS, TOKENS, of_texts)
        _cells(picture, x + TOKENS * SIDE + 14, y + 28, LAYERS, COLUMNS, of_layers)
        picture.text(x + TOKENS * SIDE / 2, y + 92, "texts", anchor="middle", quiet=True)
        picture.text(x + (TOKENS + COLUMNS / 2) * SIDE + 14, y + 92, "layers", anchor="middle", quiet=True)
        picture.text(x, y + 112, f"travel: {travels}")
    return picture


def _cells(picture: Diagram, x: float, y: float, n_rows: int, n_columns: int, holders) -> None:
    for row in range(n_rows):
        for column in range(n_columns):
            held = holders(row, column)
            picture.box(x + column * SIDE, y + row * SIDE, SIDE, SIDE, held, tone=TONE[held])


def ring(owners: Sequence[Sequence[int]], log_sums: Sequence[Sequence[Tensor]], step: int) -> Diagram:
    """Four devices in a ring, after they have met the keys that they hold at a step.

    Args:
        owners: For each step and each device, whose keys it holds; from a run to its end.
        log_sums: For each step and each device, its queries' log-sum-exps by then, `(n, 1)`.
        step: The one to be drawn, from 0.

    Raises:
        ValueError: If there are not four devices.
    """
    n_devices = len(owners[0])
    if n_devices != len(CORNERS):
        raise ValueError(f"owners must be of {len(CORNERS)} devices, got {n_devices}")
    shares = seen_shares(owners, log_sums)[step]
    held = owners[step]
    picture = Diagram(
        f"Four devices in a ring at step {step}. Arrows lead from each device to the next one, and from the last to "
        "the first: that way keys and values are handed on; after the last step nothing is. "
        + " ".join(f"Device {r} holds the keys of device {owner}." for r, owner in enumerate(held))
        + " Four numbers in each device say which share of its first query's attention lies on the keys of device 0, "
        "1, 2 and 3, as far as they have been met; a frame marks those met last.",
        height=332,
    )
    boxes = []
    for r, (x, y) in enumerate(CORNERS):
        box = picture.box(x, y, *BOX)
        picture.text(box.centre[0], y + 15, f"device {r}", anchor="middle", bold=True)
        picture.text(box.centre[0], y + 34, f"holds keys {held[r]}", anchor="middle")
        cells = picture.tensor(
            x + 8,
            y + 64,
            shares[r],
            name=f"device {r}",
            cell=((BOX[0] - 16) / 4, 24),
            tone="weights",
            numbers=True,
            largest=1,
            columns=[str(owner) for owner in range(n_devices)],
        )
        picture.frame(cells.column(held[r]), margin=1)
        boxes.append(box)
    sides = (("right", "left"), ("bottom", "top"), ("left", "right"), ("top", "bottom"))
    for r, (leave, arrive) in enumerate(sides):
        start, end = getattr(boxes[r], leave), getattr(boxes[(r + 1) % n_devices], arrive)
        if step < len(owners) - 1:
            picture.arrow(start, end, label=f"keys {held[r]}")
        else:  # nobody hands anything on
            picture.arrow(start, end, dashed=True)
    return picture


def seen_shares(owners: Sequence[Sequence[int]], log_sums: Sequence[Sequence[Tensor]]) -> Tensor:
    """How much of its whole attention each device's first query has met, `(steps, devices, owners)`."""
    n_devices = len(owners[0])
    final = torch.stack([log_sum[0, 0] for log_sum in log_sums[-1]])
    shares = torch.zeros(len(owners), n_devices, n_devices, dtype=final.dtype)
    before = torch.zeros_like(final)
    for step, (held, log_sum) in enumerate(zip(owners, log_sums, strict=True)):
        so_far = (torch.stack([each[0, 0] for each in log_sum]) - final).exp()
        for r, owner in enumerate(held):
            shares[step:, r, owner] = so_far[r] - before[r]
        before = so_far
    return shares
