"""Query heads that share keys and values, against full heads with copies of them."""

from functools import partial
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses
from seeding import seeded

from attention_course import KVCache, MultiHeadAttention, scaled_dot_product_attention
from attention_course import grouped as module
from attention_course.course.measure import peak_memory
from attention_course.grouped import grouped_query_attention

grouped = partial(grouped_query_attention, scaled_dot_product_attention)


def inputs(n_heads, n_kv_heads, n_queries, n_keys, seed=0):
    return [
        torch.randn(2, heads, tokens, width, generator=seeded(seed), dtype=torch.float64).requires_grad_()
        for heads, tokens, width in ((n_heads, n_queries, 8), (n_kv_heads, n_keys, 8), (n_kv_heads, n_keys, 5))
    ]


@settings(max_examples=60, deadline=None)
@given(
    n_kv_heads=st.integers(1, 3),
    group=st.integers(1, 4),
    n_queries=st.integers(1, 40),
    n_keys=st.integers(1, 40),
    mask_sizes=st.lists(st.booleans(), max_size=4),
    need_weights=st.booleans(),
    most_folded=st.sampled_from([0, 20, 256]),
    seed=st.integers(0, 99),
)
def test_equals_attention_on_copied_heads(
    n_kv_heads, group, n_queries, n_keys, mask_sizes, need_weights, most_folded, seed
):
    tokens = inputs(n_kv_heads * group, n_kv_heads, n_queries, n_keys, seed)
    full = (2, n_kv_heads * group, n_queries, n_keys)
    # Any number of the mask's dimensions, each full or 1; some rows allow nothing.
    shape = [size if whole else 1 for size, whole in zip(reversed(full), mask_sizes, strict=False)][::-1]
    mask = torch.rand(shape, generator=seeded(seed)) < 0.5 if shape else None
    query, key, value = tokens
    copies = (each.repeat_interleave(group, dim=1) for each in (key, value))
    expected, expected_weights = scaled_dot_product_attention(query, *copies, mask, scale=0.3)
    with mock.patch.object(module, "MOST_FOLDED", most_folded):
        output, weights = grouped(*tokens, mask, scale=0.3, need_weights=need_weights)
    torch.testing.assert_close(output, expected)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights)
    else:
        assert weights is None
    probe = torch.randn(output.shape, generator=seeded(seed), dtype=output.dtype)
    for mine, its in zip(
        *(torch.autograd.grad((each * probe).sum(), tokens) for each in (output, expected)), strict=True
    ):
        torch.testing.assert_close(mine, its)


@torch.no_grad()
@pytest.mark.parametrize("n_kv_heads", [1, 2, 8])
def test_one_query_copies_no_keys(n_kv_heads):
    query, key, value = torch.randn(1, 8, 1, 64), *torch.randn(2, 1, n_kv_heads, 1024, 64)
    one_copy = key.numel() * key.element_size()
    assert peak_memory(lambda: grouped(query, key, value, need_weights=False)) < one_copy / 4


@torch.no_grad()
def test_a_layer_decodes_without_copying_its_cache():
    layer, cache = MultiHeadAttention(64, 8, 2).eval(), KVCache()
    layer(torch.randn(1, 1000, 64), cache=cache)
    assert cache.key.shape == cache.value.shape == (1, 2, 1000, 8)
    held = cache.key.numel() * cache.key.element_size()
    assert peak_memory(lambda: layer(torch.randn(1, 1, 64), cache=cache)) < held / 2


KEPT = torch.ones(300, 300).tril().bool()


@pytest.mark.parametrize("n_queries", [1, 5, 256, 257])
@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({}, None),
        ({"causal": True}, None),
        ({"scale": 0.3, "temperature": 2.0}, None),
        ({"mask": lambda n: KEPT[-n:]}, None),
        ({"mask": lambda n: KEPT[:1]}, None),
        ({"mask": lambda n: KEPT[-n:].expand(2, 4, n, 300), "causal": True}, None),
        ({"bias": lambda n: KEPT[-n:].double()}, None),
        ({"bias": lambda n: torch.randn(4, 1, 300, generator=seeded()).double()}, None),
        ({"bias": lambda n: torch.randn(2, 4, n, 300, generator=seeded()).double()}, None),
        ({"bias": lambda n: torch.zeros(n, 300)}, (TypeError, "bias must have the dtype of the query")),
        ({"bias": lambda n: torch.zeros(2, 300).double()}, (ValueError, "bias must broadcast to the scores' shape")),
        ({"mask": lambda n: KEPT[:2]}, (ValueError, "mask must broadcast to the scores' shape")),
        ({"mask": lambda n: torch.ones(n, 300)}, (TypeError, "mask must be boolean")),
        ({"dropout": -1}, (ValueError, "dropout must lie in")),
        ({"temperature": 0}, (ValueError, "temperature must be above 0")),
    ],
)
def test_what_is_accepted_does_not_depend_on_how_many_queries_there_are(n_queries, options, refused):
    query, key, value = (each.detach() for each in inputs(4, 2, n_queries, 300))
    options = {name: given(n_queries) if callable(given) else given for name, given in options.items()}
    if refused:
        with pytest.raises(refused[0], match=refused[1]):
            grouped(query, key, value, **options)
        return
    expected = scaled_dot_product_attention(
        query, key.repeat_interleave(2, 1), value.repeat_interleave(2, 1), **options
    )
    for mine, its in zip(grouped(query, key, value, **options), expected, strict=True):
        torch.testing.assert_close(mine, its)


Q, K, V = (each.detach() for each in inputs(4, 2, 3, 5))


test_bad_input_is_named = refuses(
    ("query must have shape .batch, heads", lambda: grouped(Q[0], K, V)),
    ("divide the query's, 3, got 2", lambda: grouped(Q[:, :3], K, V)),
    (r"mask must broadcast .* \(2, 4, 3, 5\)", lambda: grouped(Q, K, V, torch.ones(2, 2, 3, 5) > 0)),
    ("n_keys must be at least n_queries = 3, got 2", lambda: grouped(Q, K[:, :, :2], V[:, :, :2], causal=True)),
    ("same n_keys", lambda: grouped(Q, K, V[:, :, :4])),
    ("same batch size, got 2, 1 and 2", lambda: grouped(Q, K[:1], V)),
)
