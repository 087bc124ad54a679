"""The picture of the two orders of multiplication: matrices to scale, and operations counted."""

import pytest
import torch
from reading import SVG, parse, texts
from torch.utils.flop_counter import FlopCounterMode

from attention_course import diagrams


def boxes(picture):
    """Width and height of every matrix, in the order they were drawn."""
    found = [rect for rect in parse(picture).iter(f"{SVG}rect") if "course-tone" in rect.get("class", "")]
    return [(float(rect.get("width")), float(rect.get("height"))) for rect in found]


@pytest.mark.parametrize(("n", "d"), [(512, 64), (48, 12)])
def test_every_matrix_is_drawn_to_one_scale(n, d):
    picture = diagrams.two_orders(*torch.randn(3, n, d))
    above = [(d, n), (n, d), (n, n), (d, n), (d, n)]  # width and height: Q, K transposed, weights, V, output
    below = [(d, n), (n, d), (d, n), (d, n), (d, d), (d, n)]
    scale = boxes(picture)[2][0] / n
    for (width, height), (columns, rows) in zip(boxes(picture), above + below, strict=True):
        assert width == pytest.approx(scale * columns, rel=1e-4)
        assert height == pytest.approx(scale * rows, rel=1e-4)


def test_operations_are_those_that_pytorch_counts():
    query, key, value = torch.randn(3, 512, 64)
    written = texts(diagrams.two_orders(query, key, value))
    counted = []
    for product in (lambda: query @ key.T @ value, lambda: query @ (key.T @ value)):
        with FlopCounterMode(display=False) as counter:
            product()
        counted.append(counter.get_total_flops())
    assert f"(QKᵀ)V: {counted[0]:,} operations" in written
    assert f"Q(KᵀV): {counted[1]:,} operations" in written
    assert "512 × 512" in written and "64 × 64" in written


def test_too_few_tokens_are_refused():
    with pytest.raises(ValueError, match="got n = 4 and d = 8"):
        diagrams.two_orders(*torch.randn(3, 4, 8))
