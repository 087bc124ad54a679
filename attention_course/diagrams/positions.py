"""Where positions enter a layer of attention, and what three methods make of each pair of tokens."""

from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram


def where_positions_enter() -> Diagram:
    """One layer of attention with the three places where positions can be told to it."""
    picture = Diagram(
        "One layer of attention, from its tokens at the top to its output at the bottom, with three places framed. "
        "First, a code is added to the tokens: sinusoidal or learned. Second, queries and keys are turned before they "
        "are compared: RoPE. Values are not turned. Third, something is added to the scores before the softmax makes "
        "weights of them.",
        height=524,
    )
    tokens = picture.box(100, 6, 100, 34, "tokens")
    added = picture.box(135, 70, 30, 30, "+")
    picture.arrow(tokens.bottom, added.top)
    middles = {"values": 45, "queries": 150, "keys": 250}
    tones = {"values": "value", "queries": "query", "keys": "key"}
    for name, x in middles.items():
        box = picture.box(x - 40, 146, 80, 34, name, tone=tones[name])
        bend = [] if x == 150 else [(150, 123), (x, 123)]
        picture.arrow(added.bottom, *bend, box.top)
    turned = [picture.box(middles[name] - 32, 216, 64, 34, "turn", tone=tones[name]) for name in ("queries", "keys")]
    scores = picture.box(150, 294, 100, 34, "scores")
    for box, x in zip(turned, (175, 225), strict=True):
        picture.arrow((box.centre[0], 180), box.top)
        picture.arrow(box.bottom, (box.centre[0], 272), (x, 272), (x, 294))
    biased = picture.box(185, 358, 30, 30, "+")
    weights = picture.box(150, 418, 100, 34, "weights", tone="weights")
    picture.box(60, 484, 140, 34, "output", tone="output")
    picture.arrow(scores.bottom, biased.top)
    picture.arrow(biased.bottom, weights.top)
    picture.text(262, 435, "softmax", quiet=True)
    picture.arrow((200, 452), (200, 468), (160, 468), (160, 484))
    picture.arrow((45, 180), (45, 468), (100, 468), (100, 484))

    between = Area(turned[0].x, turned[0].y, turned[1].right[0] - turned[0].x, turned[0].height)
    notes = (
        (added, 85, "1  add a code", "sinusoidal, learned"),
        (between, 233, "2  turn", "RoPE"),
        (biased, 373, "3  add to scores", "a further page"),
    )
    for place, y, what, methods in notes:
        picture.frame(place)
        picture.text(330, y - 11, what, bold=True)
        picture.text(330, y + 11, methods, quiet=True)
        picture.arrow((322, y), (place.right[0] + 6, y), dashed=True)
    return picture


def looked_up(*, shaw: Tensor, t5: Tensor, alibi: Tensor) -> Diagram:
    """What Shaw's vectors, T5's bias and ALiBi make of each query and key.

    Args:
        shaw: Integers `(n, n)`, the offsets after clipping, a handful of tokens.
        t5: Integers `(n, n)`, the buckets.
        alibi: Integers `(n, n)`, what is added to the scores, before it is multiplied by the slope of a head.
    """
    picture = Diagram(
        "Three grids of queries and keys. Shaw: which vector; near the diagonal offsets from minus 2 to 2, and the "
        "outermost ones repeated beyond. T5: which bucket; near offsets have their own, farther ones share, and later "
        "keys have other buckets than earlier ones. ALiBi: how many slopes are added; 0 on the diagonal, and one "
        "less for each step apart.",
        height=206,
    )
    side = 144 / len(shaw)
    for x, title, what, values in (
        (6, "Shaw", "which vector", shaw),
        (168, "T5", "which bucket", t5),
        (330, "ALiBi", "times the slope", alibi),
    ):
        picture.text(x + 72, 12, title, anchor="middle", bold=True)
        picture.text(x + 72, 33, what, anchor="middle", quiet=True)
        picture.tensor(x, 52, values, name=title, cell=side, numbers=True)
    return picture
