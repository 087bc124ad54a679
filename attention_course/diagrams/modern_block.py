"""The block of 2017 beside one of 2023; each part that changed has a colour, in both."""

from collections.abc import Sequence

from attention_course.diagrams.diagram import Area, Diagram

WIDTH = 240  # of one model's column
STREAM = 30  # from the column's left side: the stream's line
BRANCH = 62, 170  # left side and width of what a branch holds
READOUT = 408  # upper side of the last box, in both columns
TONES = {"norm": "key", "SwiGLU": "value", "ReLU": "value", "embedding": "query", "readout": "query"}


def modern_block() -> Diagram:
    """A block of the Transformer of 2017 and one of Llama 2, each between embedding and readout."""
    picture = Diagram(
        "A block of 2017 and one of 2023. In 2017: the embedding times the root of the width, plus sinusoids; "
        "attention with dropout, added, and a layer norm behind the sum; a feed-forward layer with ReLU, biases and "
        "dropout, added, and a layer norm behind the sum; the readout is the embedding's matrix again. In Llama 2: "
        "the embedding alone; an RMS norm before attention with rotary positions; an RMS norm before a SwiGLU layer "
        "without biases; one last RMS norm; a readout of its own.",
        height=484,
    )
    picture.text(4, 12, "2017", bold=True)
    picture.text(WIDTH + 4, 12, "2023 (Llama 2)", bold=True)
    _column(
        picture,
        0,
        ("embedding × √d,\nplus sinusoids", "readout: the\nembedding's matrix"),
        [(["attention,\ndropout"], "LayerNorm"), (["ReLU layer,\nbiases, dropout"], "LayerNorm")],
    )
    _column(
        picture,
        WIDTH,
        ("embedding", "readout: a matrix\nof its own"),
        [(["RMSNorm", "attention,\nrotary positions"], ""), (["RMSNorm", "SwiGLU,\nno biases"], "RMSNorm")],
    )
    picture.text(4, 472, "one colour: one part, then and now", quiet=True)
    return picture


def _column(picture: Diagram, x: float, ends: tuple[str, str], layers: Sequence[tuple[Sequence[str], str]]):
    first, last = ends
    y = _box(picture, x + 4, 24, 228, first).bottom[1]
    middle = x + STREAM
    for branch, behind in layers:
        areas, top = [], y + 26
        for text in branch:
            areas.append(_box(picture, x + BRANCH[0], top, BRANCH[1], text))
            top = areas[-1].bottom[1] + 12
        picture.arrow((middle, y + 12), (areas[0].top[0], y + 12), areas[0].top)
        for above, below in zip(areas, areas[1:], strict=False):
            picture.arrow(above.bottom, below.top)
        plus = top + 4
        picture.arrow(areas[-1].bottom, (areas[-1].bottom[0], plus), (middle + 11, plus))
        picture.arrow((middle, y), (middle, plus - 11))
        y = picture.box(middle - 11, plus - 11, 22, 22, "+").bottom[1]
        if behind:
            picture.arrow((middle, y), (middle, y + 12))
            y = _box(picture, x + 4, y + 12, 92, behind).bottom[1]
    picture.arrow((middle, y), (middle, READOUT))
    _box(picture, x + 4, READOUT, 228, last)


def _box(picture: Diagram, x: float, y: float, width: float, text: str) -> Area:
    tone = next((tone for part, tone in TONES.items() if part.lower() in text.lower()), "plain")
    return picture.box(x, y, width, 44 if "\n" in text else 28, text, tone=tone)
