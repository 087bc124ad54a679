"""Both models stand in the picture with their parts in the order in which tokens pass them."""

from reading import parse, texts

from attention_course import diagrams

PARTS = ["embedding", "attention", "LayerNorm", "RMSNorm", "ReLU", "SwiGLU", "readout", "+"]


def parts(lines):
    return [part for line in lines for part in PARTS if line.startswith(part) and line != "embedding's matrix"]


def test_the_parts_stand_in_their_order():
    lines = texts(diagrams.modern_block())
    half = lines.index("embedding")
    assert parts(lines[:half]) == ["embedding", "attention", "+", "LayerNorm", "ReLU", "+", "LayerNorm", "readout"]
    assert parts(lines[half:]) == [
        *("embedding", "RMSNorm", "attention", "+", "RMSNorm", "SwiGLU", "+", "RMSNorm", "readout"),
    ]


def test_what_has_one_job_has_one_colour():
    tones = {}
    elements = list(parse(diagrams.modern_block()))
    for box, label in zip(elements, elements[1:], strict=False):
        if box.tag.endswith("rect"):
            tones["".join(label.itertext())] = box.get("class")
    assert tones["LayerNorm"] == tones["RMSNorm"]
    assert tones["ReLU layer,"] == tones["SwiGLU,"]
    assert len({tones[name] for name in ("RMSNorm", "SwiGLU,", "embedding", "attention,")}) == 4
