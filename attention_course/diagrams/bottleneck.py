"""The diagrams of the lesson on the bottleneck: two architectures, a recurrent network, one step of attention."""

from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram

SOURCE, TARGET = "stop", "pots"
LOOK = (0.06, 0.78, 0.1, 0.06)  # what the step that writes the t might look at
BOX = (44, 32)
PLACES = tuple(76 + 114 * place for place in range(4))  # where the boxes of a row begin


def encoder_decoders() -> Diagram:
    """An encoder-decoder with one vector between its halves, and one whose decoder looks at all states."""
    picture = Diagram(
        "Two encoder-decoders that write the word stop backwards. In both, an encoder reads the letters s, t, o, p in "
        "both directions and makes a state of each, and a decoder writes p, o, t, s. Above, the two last states are "
        "joined into one vector, and every step of the decoder is given that vector. Below, all states are kept, and "
        "the step that writes the t draws on each of them through lines of different thickness, the thickest of "
        "which leads to the state of t.",
        height=508,
    )
    _halves(picture, 0, "without attention: one vector")
    vector = picture.box(207, 105, 124, 32, "one vector", tone="weights")
    top = 170
    picture.arrow((PLACES[0] + 22, top - 3), (PLACES[0] + 22, 121), (vector.x - 4, 121))
    picture.arrow((PLACES[3] + 22, top - 3), (PLACES[3] + 22, 121), (vector.x + vector.width + 4, 121))
    for place in PLACES:
        picture.arrow((269 + (place + 22 - 269) * 0.2, 103), (place + 22, 78))

    _halves(picture, 262, "with attention: all states are kept")
    step = PLACES[2] + 22
    for place, weight in zip(PLACES, LOOK, strict=True):
        picture.line((step, 262 + 76), (place + 22, 262 + 168), weight=weight)
    picture.text(4, 262 + 104, "how much to", quiet=True)
    picture.text(4, 262 + 123, "take of each", quiet=True)
    return picture


def _halves(picture: Diagram, y: float, title: str) -> None:
    """The decoder above, the encoder below; room is left between them."""
    width, height = BOX
    picture.text(8, y + 12, title, bold=True)
    for name, middle in (("decoder", y + 60), ("encoder", y + 186)):
        picture.text(4, middle, name, quiet=True)
    for place, read, written in zip(PLACES, SOURCE, TARGET, strict=True):
        picture.text(place + width / 2, y + 33, written, anchor="middle")
        picture.box(place, y + 44, width, height, tone="query")
        picture.box(place, y + 170, width, height, tone="key")
        picture.text(place + width / 2, y + 217, read, anchor="middle")
    for left, right in zip(PLACES, PLACES[1:], strict=False):
        picture.arrow((left + width + 3, y + 60), (right - 3, y + 60))
        picture.arrow((left + width + 3, y + 179), (right - 3, y + 179))
        picture.arrow((right - 3, y + 193), (left + width + 3, y + 193))


def recurrent_network(states: Tensor, letters: str) -> Diagram:
    """A recurrent network as it reads, one step a letter.

    Args:
        states: After each letter, `(4, d)`, with at most 10 numbers each.
        letters: Four of them.
    """
    states = states.detach()
    size = states.size(1)
    picture = Diagram(
        f"A recurrent network reads {', '.join(letters)}. It is one box, used once for each letter: what goes in is "
        f"the letter and the state before it, {size} numbers; what comes out is the next state, which goes on to the "
        "next letter.",
        height=206,
    )
    cell, middle = 14, 88
    top = middle - size * cell / 2
    largest = states.abs().max().item()
    picture.text(8, middle, "start", quiet=True)
    for step, letter in enumerate(letters):
        x = 62 + 106 * step
        box = picture.box(x, middle - 24, 52, 48, "GRU", tone="key")
        picture.text(box.bottom[0], 186, letter, anchor="middle", bold=True)
        picture.arrow((box.bottom[0], 174), (box.bottom[0], box.bottom[1] + 4))
        picture.arrow((x - 16, middle), (x - 3, middle))
        column = picture.tensor(
            x + 68, top, states[step][:, None], name=f"state after {letter}", cell=cell, largest=largest
        )
        picture.arrow((x + 54, middle), (x + 66, middle))
        picture.text(column.top[0], top - 14, f"h_{step + 1}", anchor="middle")
    return picture


def attention_step(letters: str, state: Tensor, states: Tensor, weights: Tensor, written: str, stage: int) -> Diagram:
    """One step of a decoder with attention, up to a stage.

    Args:
        letters: Of the source; at most six.
        state: The decoder's that asks, `(64,)`, drawn as a tile of 8 × 8.
        states: The encoder's, `(n, 64)`.
        weights: What the step takes of each, `(n,)`.
        written: The letter that the step writes.
        stage: 1 compares, 2 makes weights, 3 blends, 4 writes.
    """
    context = weights @ states
    story = (
        "The decoder's state, a tile of 64 numbers, is compared with every encoder state, one tile for each of the "
        f"letters {', '.join(letters)}.",
        "The comparison becomes weights that sum to 1: "
        + ", ".join(f"{letter} {weight:.2f}" for letter, weight in zip(letters, weights.tolist(), strict=True))
        + ".",
        "The encoder states, blended by these weights, make the context.",
        f"From the state and the context the decoder writes {written}.",
    )
    picture = Diagram(f"One step of a decoder with attention. {' '.join(story[:stage])}", height=330)
    width = 476 / len(letters)
    tiles = []
    for place, letter in enumerate(letters):
        x = 2 + place * width + (width - 56) / 2
        tiles.append(_tile(picture, x, 242, states[place], f"state of {letter} at {place}", "key"))
        picture.text(x + 28, 316, letter, anchor="middle", bold=True)
    query = _tile(picture, 20, 34, state, "query", "query")
    picture.text(48, 16, "query", anchor="middle", bold=True)
    if stage == 1:
        for tile in tiles:
            picture.arrow((query.bottom[0], query.bottom[1] + 4), (tile.top[0], tile.y - 4), dashed=True)
        picture.text(84, 62, "compared with every state", quiet=True)
        return picture
    row = picture.tensor(2, 180, weights, name="weights", cell=(width, 28), numbers=True, tone="weights", largest=1.0)
    picture.arrow((query.bottom[0], query.bottom[1] + 4), (query.bottom[0], row.y - 22))
    picture.text(240, 166, "weights, sum 1", anchor="middle", quiet=True)
    if stage >= 3:
        blend = _tile(picture, 212, 34, context, "context", "value")
        picture.text(240, 16, "context", anchor="middle", bold=True)
        for place, tile in enumerate(tiles):
            picture.line((tile.top[0], row.y + row.height + 2), (tile.top[0], tile.y - 2), weight=float(weights[place]))
        picture.arrow((240, 152), (240, blend.y + blend.height + 4))
    if stage >= 4:
        picture.arrow((query.x + 60, 62), (206, 62))
        picture.arrow((272, 62), (376, 62))
        picture.box(380, 38, 80, 48, f"writes {written}", tone="output")
    return picture


def _tile(picture: Diagram, x: float, y: float, vector: Tensor, name: str, tone: str) -> Area:
    """A vector of 64 numbers as a square."""
    return picture.tensor(x, y, vector.reshape(8, 8), name=name, cell=7, tone=tone)


def when_to_ask() -> Diagram:
    """Bahdanau's decoder, which attends before its step, beside Luong's, which attends after it."""
    picture = Diagram(
        "Two ways to place attention in a decoder's step. Bahdanau: the old state asks, the context enters the step, "
        "and the new state and the context make the prediction. Luong: the step comes first, the new state asks, and "
        "the context enters only the prediction. A dashed arrow leads from Luong's prediction to the next step: that "
        "is input feeding.",
        height=376,
    )
    for x, title, first, second in (
        (6, "Bahdanau: ask, then step", "attend\nwith the old state", "step\nto the new state"),
        (254, "Luong: step, then ask", "step\nto the new state", "attend\nwith the new state"),
    ):
        picture.text(x + 106, 12, title, anchor="middle", bold=True)
        boxes = [
            picture.box(x + 26, 34, 160, 30, "old state, letter"),
            picture.box(x + 26, 98, 160, 52, first, tone="weights" if x == 6 else "query"),
            picture.box(x + 26, 184, 160, 52, second, tone="query" if x == 6 else "weights"),
            picture.box(x + 26, 288, 160, 34, "prediction", tone="output"),
        ]
        for upper, lower in zip(boxes, boxes[1:], strict=False):
            picture.arrow((upper.bottom[0], upper.bottom[1] + 3), (lower.top[0], lower.top[1] - 3))
        if x == 6:
            picture.text(x + 114, 167, "context", quiet=True)
            picture.text(x + 114, 262, "state, context", quiet=True)
        else:
            picture.text(x + 98, 262, "state, context", anchor="end", quiet=True)
            last, step = boxes[3], boxes[1]
            side = last.x + last.width + 20
            points = ((last.x + last.width + 3, last.right[1]), (side, last.right[1]), (side, step.right[1]))
            picture.arrow(*points, (step.x + step.width + 3, step.right[1]), dashed=True)
    picture.text(474, 346, "dashed: input feeding,", anchor="end", quiet=True)
    picture.text(474, 365, "into the next step", anchor="end", quiet=True)
    return picture
