import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_course import causal_mask, padding_mask, prefix_mask, sliding_window_mask


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
    assert padding_mask(torch.tensor([], dtype=torch.long), 4).shape == (0, 1, 1, 4)


def test_masks_combine():
    both = causal_mask(3) & padding_mask(torch.tensor([2, 3]))
    assert both.shape == (2, 1, 3, 3)
    assert both[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    window_or_first = sliding_window_mask(4, 1, causal=True) | (torch.arange(4) == 0)
    assert window_or_first[3].tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "n_keys must be at least", lambda: causal_mask(4, 3)),
        (ValueError, "window must be", lambda: sliding_window_mask(4, -1)),
        (ValueError, "prefix_length must lie", lambda: prefix_mask(4, 5)),
        (ValueError, "prefix_length must lie", lambda: prefix_mask(4, -1)),
        (TypeError, "integer", lambda: padding_mask(torch.tensor([1.0]))),
        (ValueError, "shape", lambda: padding_mask(torch.tensor([[1]]))),
        (ValueError, "must lie", lambda: padding_mask(torch.tensor([3, 5]), 4)),
        (ValueError, "must lie", lambda: padding_mask(torch.tensor([3, -1]), 4)),
    ],
)
def test_bad_input_is_named(error, message, call):
    with pytest.raises(error, match=message):
        call()
