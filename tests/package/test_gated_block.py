"""The gated layer is the formula of its paper, and the lesson's."""

import pytest
import torch
from sweeps import printed

from attention_course.modern_block import SwiGLU


@pytest.mark.parametrize("bias", [False, True])
def test_a_gated_layer_is_its_formula(bias):
    torch.manual_seed(0)
    layer, tokens = SwiGLU(6, 10, bias).double(), torch.randn(2, 3, 6, dtype=torch.float64)
    gate, up, down = (
        (part.weight, part.bias if bias else torch.zeros(len(part.weight), dtype=torch.float64))
        for part in (layer.gate, layer.up, layer.down)
    )
    expected = torch.empty_like(tokens)
    for place in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        token = tokens[tuple(place)]
        hidden = torch.stack(
            [(g := gate[0][unit] @ token + gate[1][unit]) / (1 + torch.exp(-g)) * (up[0][unit] @ token + up[1][unit])
             for unit in range(10)]
        )  # fmt: skip
        expected[tuple(place)] = down[0] @ hidden + down[1]
    torch.testing.assert_close(layer(tokens), expected)


def test_it_has_no_biases_unless_they_are_asked_for():
    assert [name for name, _ in SwiGLU(6, 10).named_parameters()] == ["gate.weight", "up.weight", "down.weight"]


def test_the_lessons_layer_is_interchangeable_with_it():
    (lessons,) = printed("modern_block.ipynb", "SwiGLU")
    ours, theirs, tokens = SwiGLU(6, 10), lessons(6, 10), torch.randn(4, 6)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(theirs(tokens), ours(tokens))
