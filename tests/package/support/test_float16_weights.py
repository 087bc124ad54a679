import base64
import struct

import numpy as np
import pytest
import torch
from torch import nn

from attention_course.support import float16_weights


def make(width=3) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 4), nn.Embedding(5, 2))


def test_the_bytes_are_the_parameters_in_order():
    """As the standard library reads them: names, shapes and numbers."""
    model = make()
    packed = float16_weights.pack(model)
    assert packed["shapes"] == [["0.weight", 4, 3], ["0.bias", 1, 4], ["1.weight", 5, 2]]
    numbers = [number for (number,) in struct.iter_unpack("<e", base64.b64decode(packed["weights"]))]
    expected = torch.cat([value.flatten() for value in model.parameters()])
    np.testing.assert_array_equal(numbers, expected.detach().half().numpy())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_unpacked_is_the_rounded_model(dtype):
    model, copy = make(), make().to(dtype)
    nn.init.zeros_(copy[0].weight)
    float16_weights.unpack(float16_weights.pack(model) | {"settings": None}, copy)
    for value, unpacked in zip(model.parameters(), copy.parameters(), strict=True):
        assert unpacked.dtype == dtype
        assert torch.equal(unpacked, value.half().to(dtype))


def test_another_model_is_refused_and_left_as_it_was():
    other = make(width=2)
    before = [value.clone() for value in other.parameters()]
    with pytest.raises(ValueError, match="packed must hold the model's parameters"):
        float16_weights.unpack(float16_weights.pack(make()), other)
    assert all(map(torch.equal, before, other.parameters()))


def test_what_does_not_fit_16_bits_is_refused():
    model = make()
    nn.init.constant_(model[0].bias, 70_000.0)
    with pytest.raises(ValueError, match="got 4 that are not"):
        float16_weights.pack(model)
