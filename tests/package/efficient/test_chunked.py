"""Chunked attention beyond its equality with dense attention (test_exact.py): how large a chunk is."""

import pytest
import torch
from seeding import random

from attention_course import scaled_dot_product_attention
from attention_course.efficient import chunked
from attention_course.efficient.chunked import chunked_attention


@pytest.mark.parametrize(("n_heads", "n_keys", "rows"), [(1, 2048, 10), (4, 512, 10), (4, 10, 512), (4, 30_000, 1)])
def test_a_chunk_has_the_weights_that_there_is_room_for(n_heads, n_keys, rows, monkeypatch):
    monkeypatch.setattr(chunked, "WEIGHTS", 20_480)
    sizes = []

    def dense(query, *rest, **options):
        sizes.append(query.size(-2))
        return scaled_dot_product_attention(query, *rest, **options)

    monkeypatch.setattr(chunked, "scaled_dot_product_attention", dense)
    query, key, value = random(1, n_heads, 25, 4), random(1, n_heads, n_keys, 4), random(1, n_heads, n_keys, 4, seed=1)
    output, _ = chunked_attention(query, key, value)
    assert max(sizes) == min(rows, 25) and sum(sizes) == 25
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value)[0])


@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 3), (3, 0), (0, 0)])
def test_empty_sequences_give_empty_results_and_zeros(n_queries, n_keys):
    tokens = [random(2, 3, n, 4) for n in (n_queries, n_keys, n_keys)]
    output, weights = chunked_attention(*tokens, need_weights=True)
    assert output.shape == (2, 3, n_queries, 4) and output.eq(0).all()
    assert weights.shape == (2, 3, n_queries, n_keys)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("chunk_size must be 1 or more, got 0", {"chunk_size": 0}),
        ("mask must broadcast", {"mask": torch.ones(3, 4).bool()}),
        (r"mask must broadcast.*got \(4, 5\)", {"mask": torch.ones(4, 5).bool(), "chunk_size": 2}),
        ("dropout must lie", {"dropout": -3}),
    ],
)
def test_bad_input_is_named(message, options):
    with pytest.raises(ValueError, match=message):
        chunked_attention(*random(3, 2, 5, 4), **options)
