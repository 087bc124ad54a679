"""The picture of one token shows the arithmetic that it was drawn from."""

import numpy as np
import pytest
import torch
from reading import drawn, parse, texts

from attention_course import diagrams

NAMES = ["river", "the", "bank"]
PARTS = {
    "tokens": ["tokens"],
    "query": ["W_Q", "query"],
    "keys": ["W_K", "keys"],
    "scores": ["scores"],
    "weights": ["weights"],
    "answer": ["W_V", "values", "answer"],
}


@pytest.fixture
def run():
    generator = torch.Generator().manual_seed(0)
    matrices = [torch.randn(2, 1, generator=generator, dtype=torch.float64) for _ in range(3)]
    return torch.randn(3, 2, generator=generator, dtype=torch.float64), matrices


@pytest.mark.parametrize("asking", [0, 2])
def test_every_number_is_that_of_the_layer(run, asking):
    tokens, matrices = run
    W_Q, W_K, W_V = (matrix.numpy() for matrix in matrices)
    X = tokens.numpy()
    scores = np.array([(X[asking] @ W_Q) @ (row @ W_K) for row in X])
    weights = np.exp(scores) / np.exp(scores).sum()
    answer = torch.nn.functional.scaled_dot_product_attention(*(tokens @ matrix for matrix in matrices))[asking]
    expected = {"tokens": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "query": X[asking] @ W_Q, "keys": X @ W_K}
    expected |= {"values": X @ W_V, "scores": scores, "weights": weights, "answer": answer.numpy()}
    shown = drawn(diagrams.one_token(tokens, matrices, NAMES, asking=asking))
    assert set(shown) == set(expected)
    for name, values in expected.items():
        assert np.allclose(shown[name].ravel(), np.ravel(values), rtol=1e-3, atol=1e-6), name


def test_a_part_follows_the_other(run):
    there = set()
    for part, names in PARTS.items():
        there |= set(names)
        picture = diagrams.one_token(*run, NAMES, asking=2, until=part)
        assert set(drawn(picture)) == there
    assert texts(picture)[-1] == "answer for bank"
    assert "bank" in parse(picture).find(".//{http://www.w3.org/2000/svg}desc").text


@pytest.mark.parametrize("words", [["a", "b", "c"], ["the", "bank", "by", "the", "river", "was", "steep"]])
def test_the_first_word_reaches_the_last_by_one_arrow_or_through_every_state(words):
    n = len(words)
    picture = diagrams.paths(words)
    lines = [path.get("d") for path in parse(picture).iter("{http://www.w3.org/2000/svg}path") if path.get("stroke")]
    assert len(lines) == n + (n - 1) + n  # words into states, states into states, words into the answer
    assert [text for text in texts(picture) if text in words] == [*words, *words]
    assert f"recurrent network: {n - 1} steps, one after the other" in texts(picture)
