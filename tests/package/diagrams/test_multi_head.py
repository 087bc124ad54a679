"""The pictures of heads show what a layer computes."""

import pytest
import torch
from reading import close, drawn, texts

from attention_course import MultiHeadAttention, diagrams

NAMES = ["the", "cat", "sat", "down"]


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return MultiHeadAttention(8, 2)


def split(tokens, n_heads):
    return tokens.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def test_each_grid_is_what_the_layer_computes(layer):
    tokens = torch.randn(4, 8)
    output, weights = layer(tokens[None], need_weights=True)
    cells = drawn(diagrams.multi_head(layer, tokens, NAMES))
    assert close(cells["tokens"], tokens)
    assert close(cells["output"], output[0])
    projections = {"queries": layer.query_proj, "keys": layer.key_proj, "values": layer.value_proj}
    for head in range(2):
        assert close(cells[f"weights of head {head + 1}"], weights[0, head])
        for name, projection in projections.items():
            assert close(cells[f"{name} of head {head + 1}"], split(projection(tokens[None]), 2)[0, head])
        found = weights[0, head] @ split(layer.value_proj(tokens[None]), 2)[0, head]
        assert close(cells[f"output of head {head + 1}"], found)
        assert close(cells[f"half of head {head + 1}"], found)


def test_names_and_shapes_are_written(layer):
    written = texts(diagrams.multi_head(layer, torch.randn(3, 8), ["a", "b", "c"]))
    assert [written.count(word) for word in ("a", "b", "c", "3 × 8", "head 1", "head 2")] == [3, 3, 3, 3, 1, 1]


def test_a_layer_of_other_heads_is_refused():
    with pytest.raises(ValueError, match="layer must have 2 heads, got 4"):
        diagrams.multi_head(MultiHeadAttention(8, 4), torch.randn(4, 8), NAMES)


def test_both_cuts_are_what_the_functions_return():
    tokens = 10 * torch.arange(1, 5)[:, None] + torch.arange(1, 5)
    cells = drawn(diagrams.cuts(tokens, NAMES, split, lambda tokens, n_heads: tokens.reshape(1, n_heads, 4, 2)))
    assert cells["tokens"].tolist() == tokens.tolist()
    assert cells["cut, then swap: head 1"].tolist() == [[11, 12], [21, 22], [31, 32], [41, 42]]
    assert cells["cut, then swap: head 2"].tolist() == [[13, 14], [23, 24], [33, 34], [43, 44]]
    assert cells["reshaped at once: head 1"].tolist() == [[11, 12], [13, 14], [21, 22], [23, 24]]
    assert cells["reshaped at once: head 2"].tolist() == [[31, 32], [33, 34], [41, 42], [43, 44]]


def test_a_token_is_drawn_below_the_embeddings_it_is_the_sum_of():
    parts = {"name Ada": torch.randn(32), "letter c": torch.randn(32), "mentor Max": torch.randn(32)}
    picture = diagrams.sum_of_embeddings(parts, "token")
    cells = drawn(picture)
    assert list(cells) == ["name Ada", "letter c", "mentor Max", "token"]
    assert all(close(cells[name], part) for name, part in parts.items())
    assert close(cells["token"], sum(parts.values()))
    assert texts(picture) == ["name Ada", "+", "letter c", "+", "mentor Max", "=", "token"]


@pytest.mark.parametrize("parts", [{"alone": torch.ones(4)}, {"long": torch.ones(4), "short": torch.ones(3)}])
def test_what_cannot_be_added_up_is_refused(parts):
    with pytest.raises(ValueError, match=rf"parts must be two embeddings or more of one shape, got {len(parts)} of"):
        diagrams.sum_of_embeddings(parts, "token")


def test_query_heads_stand_over_the_pair_they_use():
    written = texts(diagrams.shared_heads(4, [4, 2, 1]))
    assert [written.count(word) for word in ("Q", "KV", "keys, values")] == [12, 4, 3]
    assert "grouped-query: 2 key-value heads to keep" in written


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match=r"n_kv_heads must divide n_heads = 4, got \[3\]"):
        diagrams.shared_heads(4, [3])
