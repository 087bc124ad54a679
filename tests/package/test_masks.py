import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_course import causal_mask, padding_mask, prefix_mask, sliding_window_mask
from attention_course.masks import hide_future


@given(st.integers(1, 8), st.integers(0, 5), st.integers(0, 9), st.booleans())
def test_each_mask_equals_its_definition(n_queries, earlier, window, causal):
    n_keys = n_queries + earlier
    for i in range(n_queries):
        position = earlier + i  # the last query stands at the last key
        for j in range(n_keys):
            is_past, is_near = j <= position, abs(j - position) <= window
            assert causal_mask(n_queries, n_keys)[i, j] == is_past
            in_window = is_near and (is_past or not causal)
            assert sliding_window_mask(n_queries, window, n_keys, causal=causal)[i, j] == in_window


@given(st.integers(1, 8), st.data())
def test_prefix_is_seen_by_all(n_tokens, data):
    length = data.draw(st.integers(0, n_tokens))
    mask = prefix_mask(n_tokens, length)
    for i in range(n_tokens):
        for j in range(n_tokens):
            assert mask[i, j] == (j <= i or j < length)


def test_a_window_looks_to_both_sides_unless_told_otherwise():
    assert sliding_window_mask(3, 1).tolist() == [[True, True, False], [True] * 3, [False, True, True]]


def test_padding():
    mask = padding_mask(torch.tensor([2, 0, 3]))
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert padding_mask(torch.tensor([2]), 4).shape == (1, 1, 1, 4)


def test_nothing_has_empty_masks():
    assert causal_mask(0).shape == sliding_window_mask(0, 3).shape == prefix_mask(0, 0).shape == (0, 0)
    assert causal_mask(0, 3).shape == (0, 3)
    assert padding_mask(torch.tensor([], dtype=torch.long)).shape == (0, 1, 1, 0)
    assert padding_mask(torch.tensor([], dtype=torch.long), 4).shape == (0, 1, 1, 4)
    assert padding_mask(torch.tensor([0, 0])).shape == (2, 1, 1, 0)


def test_numbers_may_come_from_tensors_and_arrays():
    assert torch.equal(causal_mask(torch.tensor([2, 3]).max()), causal_mask(3))
    assert torch.equal(causal_mask(np.int64(3)), causal_mask(3))


@pytest.mark.parametrize("mask", [None, padding_mask(torch.tensor([4, 2])), torch.ones(1, 4).bool()])
def test_the_future_is_hidden_besides_what_a_mask_hides(mask):
    key = torch.zeros(2, 3, 4, 8)
    expected = causal_mask(2, 4) if mask is None else causal_mask(2, 4) & mask
    assert torch.equal(hide_future(mask, key[..., 2:, :], key), expected)
    assert hide_future(mask, key[..., 3:, :], key) is mask  # the newest token sees all of them
    with pytest.raises(ValueError, match="mask must broadcast"):
        hide_future(torch.ones(3, 4).bool(), key[..., 2:, :], key)
    with pytest.raises(TypeError, match="mask must be boolean"):
        hide_future(torch.ones(2, 4), key[..., 2:, :], key)
    with pytest.raises(ValueError, match="n_keys must be at least n_queries = 1, got 0"):
        hide_future(None, key[..., 3:, :], key[..., :0, :])


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "n_keys must be at least", lambda: causal_mask(4, 3)),
        (ValueError, "n_queries must be 0 or more, got -1", lambda: causal_mask(-1)),
        (ValueError, "n_keys must be 0 or more, got -2", lambda: causal_mask(0, -2)),
        (TypeError, "n_queries must be an integer, got 3.0", lambda: causal_mask(3.0)),
        (ValueError, "n_queries must be 0 or more, got -4", lambda: sliding_window_mask(-4, 1)),
        (TypeError, "window must be an integer, got 1.5", lambda: sliding_window_mask(4, 1.5)),
        (ValueError, "n_tokens must be 0 or more, got -4", lambda: prefix_mask(-4, 0)),
        (ValueError, "prefix_length must be 0 or more, got -1", lambda: prefix_mask(4, -1)),
        (ValueError, "n_keys must be 0 or more, got -1", lambda: padding_mask(torch.tensor([0]), -1)),
        (TypeError, "lengths must be an integer tensor, got torch.bool", lambda: padding_mask(torch.tensor([True]))),
        (ValueError, r"lengths must lie in 0..4 .n_keys., got \[-1\]", lambda: padding_mask(torch.tensor([-1]), 4)),
        (ValueError, "prefix_length must lie", lambda: prefix_mask(4, 5)),
        (TypeError, "integer", lambda: padding_mask(torch.tensor([1.0]))),
        (ValueError, "shape", lambda: padding_mask(torch.tensor([[1]]))),
        (ValueError, "must lie", lambda: padding_mask(torch.tensor([3, 5]), 4)),
    ],
)
def test_bad_input_is_named(error, message, call):
    with pytest.raises(error, match=message):
        call()
