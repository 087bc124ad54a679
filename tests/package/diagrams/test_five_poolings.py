import numpy as np
import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams

WORDS = ["CLS", "the", "film", "was", "good"]


def five():
    tokens = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    even, first = torch.full((5,), 0.2), torch.eye(5)[0]
    pooled = {"mean": (even @ tokens, even), "CLS": (tokens[0], first)}
    return tokens, pooled, diagrams.five_poolings(WORDS, tokens, pooled)


def test_the_picture_shows_tokens_shares_and_vectors_of_the_run():
    tokens, pooled, picture = five()
    shown = drawn(picture)
    np.testing.assert_allclose(shown["tokens"], tokens.T, rtol=1e-3)
    for way, (vector, share) in pooled.items():
        np.testing.assert_allclose(shown[way][0], share, rtol=1e-3)
        np.testing.assert_allclose(shown[f"{way} vector"][0], vector, rtol=1e-3)
        assert way in texts(picture)
    assert set(WORDS) <= set(texts(picture))


def test_the_description_names_who_has_a_share():
    *_, picture = five()
    assert "CLS: CLS 1.00." in picture.alt and "mean: CLS 0.20, the 0.20" in picture.alt


@pytest.mark.parametrize("out", [None, 2])
def test_a_review_shows_shares_and_both_answers(out):
    share = torch.tensor([0.1, 0.2, 0.0, 0.3, 0.4])
    after = 3.24 if out is None else -1.06
    picture = diagrams.review_answer(WORDS, share, before=3.24, after=after, out=out)
    shown = texts(picture)
    assert {"0.10", "0.20", "0.30", "0.40"} <= set(shown)
    assert "+3.2, good" in shown
    without = out is not None
    assert ("without film" in shown) == ("erased" in shown) == ("(film)" in shown) == without
    assert ("−1.1, bad" in shown) == without
    assert f"good are {after:+.1f}" in picture.alt
