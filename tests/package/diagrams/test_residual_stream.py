"""The pictures of the Transformer show what a block computes and what a stream sums up."""

import numpy as np
import pytest
import torch
from reading import close, drawn, texts

from attention_course import diagrams
from attention_course.transformer import Block

NAMES = ["the", "dog", "bites"]


@pytest.fixture
def block():
    torch.manual_seed(0)
    block = Block(8, 2)
    for norm in (block.attention_norm, block.feed_forward_norm):
        torch.nn.init.normal_(norm.weight, 1, 0.5)
    return block


def test_the_states_and_updates_are_those_of_the_block(block):
    tokens = torch.randn(3, 8)
    picture = diagrams.transformer_block(block, tokens, NAMES)
    cells = drawn(picture)
    assert close(cells["the tokens"], tokens)
    assert close(cells["after the block"], block(tokens[None])[0][0])
    assert close(cells["after attention"], tokens + block.attention(block.attention_norm(tokens)[None])[0][0])
    assert np.allclose(cells["the tokens"] + cells["attention adds"], cells["after attention"], atol=2e-3)
    assert np.allclose(cells["after attention"] + cells["feed-forward adds"], cells["after the block"], atol=2e-3)


def test_what_a_layer_adds_is_written_as_a_share_of_what_stood_there(block):
    tokens = torch.randn(3, 8)
    picture = diagrams.transformer_block(block, tokens, NAMES)
    states = [picture.tensors[name] for name in ("the tokens", "after attention")]
    added = [picture.tensors[f"{name} adds"] for name in ("attention", "feed-forward")]
    shares = [f"adds {np.linalg.norm(a) / np.linalg.norm(s):.0%}" for a, s in zip(added, states, strict=True)]
    assert [text for text in texts(picture) if text.startswith("adds")] == shares


def test_a_stream_is_the_sum_of_the_terms_drawn_so_far():
    torch.manual_seed(0)
    terms = {name: torch.randn(6) for name in ("embedding", "attention", "feed-forward")}
    said = [{"a": 0.5, "b": 0.25}, {"b": 0.75, "a": 0.125}, {"c": 0.875, "b": 0.1}]
    for until in (1, 2, 3):
        picture = diagrams.residual_stream(terms, said, "b", asked="The book says: b", until=until)
        cells = drawn(picture)
        assert list(cells) == [*list(terms)[:until], "sum: the stream now"]
        assert close(cells["sum: the stream now"], sum(list(terms.values())[:until]))
        assert all(close(cells[name], terms[name]) for name in list(terms)[:until])
        written = texts(picture)
        assert written[0] == "The book says: b"
        assert sum("not yet" in text for text in written) == 3 - until
        for answer, chance in said[until - 1].items():
            assert f"{chance:.0%}" + (", right" if answer == "b" else "") in written
