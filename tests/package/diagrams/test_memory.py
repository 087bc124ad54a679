"""The picture of a retrieval shows the run it was drawn from."""

import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams, scaled_dot_product_attention


@pytest.fixture
def run():
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(9, 64, generator=generator)
    state = patterns[3] * (torch.arange(64) < 32)
    output, weights = scaled_dot_product_attention(state[None], patterns, patterns, scale=0.1)
    return state, patterns, weights[0], output[0]


def test_images_are_those_of_the_run(run):
    state, patterns, weights, output = run
    shown = drawn(diagrams.retrieval(*run))
    paper = patterns.min()
    order = sorted(range(9), key=lambda index: -weights[index])
    expected = {"asked": state, "retrieved": output} | {f"stored {n + 1}": patterns[order[n]] for n in range(4)}
    assert set(shown) == set(expected)
    for name, values in expected.items():
        assert torch.allclose(torch.tensor(shown[name]).flatten(), (values - paper).double(), rtol=1e-3, atol=1e-3)


def test_the_largest_weights_are_written(run):
    weights = sorted(run[2].tolist(), reverse=True)
    assert [text for text in texts(diagrams.retrieval(*run)) if "%" in text] == [
        f"{weight:.0%}" for weight in weights[:4]
    ]
