"""Mechanisms that compute exactly what dense attention computes under a mask."""

import pytest
import torch
from derivatives import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses
from seeding import seeded

from attention_course import padding_mask, scaled_dot_product_attention
from attention_course.course.measure import peak_memory
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention


def inputs(n_tokens, seed=0, n_keys=None):
    query, key, value = (
        torch.randn(2, 3, n, 8, generator=seeded(seed), dtype=torch.float64).requires_grad_()
        for n in (n_tokens, n_keys or n_tokens, n_keys or n_tokens)
    )
    return query, key, value


lengths = st.integers(1, 200)


@settings(max_examples=30, deadline=None)
@given(
    n_tokens=lengths, window=st.integers(1, 100), n_global=st.integers(0, 5), causal=st.booleans(), pad=st.booleans()
)
def test_a_window_equals_dense_attention_under_its_band(n_tokens, window, n_global, causal, pad):
    attention, tokens = LongformerAttention(window, n_global=n_global, causal=causal), inputs(n_tokens)
    mask = padding_mask(torch.tensor([n_tokens, (n_tokens + 1) // 2])) if pad else None
    seen = attention.dense_mask(n_tokens) if mask is None else attention.dense_mask(n_tokens) & mask
    assert_same(attention(*tokens, mask)[0], scaled_dot_product_attention(*tokens, seen)[0], tokens)


def test_the_band_is_what_it_says():
    full, causal = (LongformerAttention(2, n_global=1, causal=causal).dense_mask(7) for causal in (False, True))
    for query in range(7):
        for key in range(7):
            assert full[query, key] == (abs(query - key) <= 2 or query == 0 or key == 0)
            assert causal[query, key] == (0 <= query - key <= 2 or key == 0)


@settings(max_examples=30, deadline=None)
@given(n_tokens=lengths, block_size=st.integers(1, 40), causal=st.booleans(), seed=st.integers(0, 99))
def test_blocks_equal_dense_attention_under_their_layout(n_tokens, block_size, causal, seed):
    n_blocks = -(-n_tokens // block_size)
    layout = torch.rand(n_blocks, n_blocks, generator=seeded(seed)) < 0.4
    layout[0, 0] = True  # at least something is seen
    attention, tokens = BlockSparseAttention(layout, block_size, causal=causal), inputs(n_tokens)
    expected, _ = scaled_dot_product_attention(*tokens, attention.dense_mask(n_tokens))
    assert_same(attention(*tokens)[0], expected, tokens)


def test_the_layout_is_saved_and_loaded():
    ours, other = (BlockSparseAttention(bigbird_layout(9, generator=seeded(seed)), 8) for seed in (0, 1))
    tokens = inputs(70)
    assert not torch.equal(ours(*tokens)[0], other(*tokens)[0])
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(*tokens)[0], other(*tokens)[0])


def test_a_layout_that_changes_later_changes_nothing():
    layout = bigbird_layout(9, generator=seeded())
    attention, tokens = BlockSparseAttention(layout, 8), inputs(70)
    before, _ = attention(*tokens)
    layout.fill_(False)
    assert torch.equal(attention(*tokens)[0], before)


def test_linformers_first_blends_keep_lengths():
    """Drawn with variance 1 / rank, for keys and for values; each entry on its own."""
    torch.manual_seed(0)
    attention = LinformerAttention(500, 64)
    for blend in (attention.blend_keys, attention.blend_values):
        assert blend.std().item() == pytest.approx(1 / 8, rel=0.03) and abs(blend.mean().item()) < 0.005
        token = torch.nn.functional.one_hot(torch.tensor(7), 500).float()
        assert (blend @ token).norm().item() == pytest.approx(1, rel=0.3)
    assert not torch.equal(attention.blend_keys, attention.blend_values)


def test_bigbirds_layout_has_a_window_global_blocks_and_random_ones():
    layout = bigbird_layout(20, window=1, n_global=2, n_random=3, generator=seeded())
    block = torch.arange(20)
    near = (block[:, None] - block).abs() <= 1
    edge = (block < 2) | (block >= 18)
    certain = near | edge | edge[:, None]
    assert layout[certain].all()
    assert ((layout & ~certain).sum(1)[~edge] == 3).all()
    assert not torch.equal(layout, bigbird_layout(20, n_global=2, generator=seeded(1)))


@settings(max_examples=30, deadline=None)
@given(n_queries=lengths, n_keys=lengths, chunk=st.integers(1, 300), masked=st.booleans(), seed=st.integers(0, 99))
def test_chunks_equal_dense_attention(n_queries, n_keys, chunk, masked, seed):
    tokens = inputs(n_queries, seed, n_keys)
    mask = torch.rand(2, 1, n_queries, n_keys, generator=seeded(seed)) < 0.5 if masked else None
    expected, weights = scaled_dot_product_attention(*tokens, mask)
    assert_same(chunked_attention(*tokens, mask, chunk_size=chunk)[0], expected, tokens)
    torch.testing.assert_close(chunked_attention(*tokens, mask, chunk_size=chunk, need_weights=True)[1], weights)


@settings(max_examples=20, deadline=None)
@given(n_queries=st.integers(1, 700), n_keys=st.integers(1, 700), masked=st.booleans(), seed=st.integers(0, 99))
def test_flash_equals_dense_attention(n_queries, n_keys, masked, seed):
    tokens = inputs(n_queries, seed, n_keys)
    mask = torch.rand(2, 1, n_queries, n_keys, generator=seeded(seed)) < 0.01 if masked else None  # some rows empty
    expected, _ = scaled_dot_product_attention(*tokens, mask)
    assert_same(flash_attention(*tokens, mask)[0], expected, tokens)


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "forward and backward"])
def test_flash_and_chunks_never_hold_the_matrix(backward):
    tokens = [tokens.detach().float().requires_grad_(backward) for tokens in inputs(2048)]
    matrix = 2 * 3 * 2048**2 * 4  # bytes of one copy of the weights

    def peak(attention):
        def call():
            output, _ = attention(*tokens)
            return torch.autograd.grad(output.sum(), tokens) if backward else output

        return peak_memory(call)

    assert peak(scaled_dot_product_attention) > matrix
    assert peak(flash_attention) < matrix / 3
    assert peak(chunked_attention) < matrix / 3


@torch.no_grad()
def test_linformer_with_a_slot_for_each_key_is_dense_attention():
    tokens = inputs(50)
    attention = LinformerAttention(64, 64).double()
    attention.blend_keys.data = attention.blend_values.data = torch.eye(64, dtype=torch.float64)[:, :64]
    query, key, value = tokens
    padded = [torch.nn.functional.pad(each, (0, 0, 0, 14)) for each in (key, value)]
    expected, _ = scaled_dot_product_attention(query, *padded)  # the unused slots hold zeros
    torch.testing.assert_close(attention(*tokens)[0], expected)


test_bad_input_is_named = refuses(
    ("window must be a whole number, 1 or more, got 0", lambda: LongformerAttention(0)),
    ("window must be a whole number, 1 or more, got nan", lambda: LongformerAttention(float("nan"))),
    ("n_global must be a whole number, 0 or more, got -1", lambda: LongformerAttention(3, n_global=-1)),
    ("layout must have shape", lambda: BlockSparseAttention(torch.ones(2, 3).bool(), 4)),
    ("layout must be boolean, got torch.float32", lambda: BlockSparseAttention(torch.ones(2, 2), 4)),
    ("block_size must be a whole number, 1 or more", lambda: BlockSparseAttention(torch.ones(2, 2).bool(), 0)),
    ("n_random must be a whole number, 0 or more, got -1", lambda: bigbird_layout(4, n_random=-1)),
    ("max_keys must be a whole number, 1 or more, got 0", lambda: LinformerAttention(0, 4)),
    ("rank must be a whole number, 1 or more, got 0", lambda: LinformerAttention(8, 0)),
    ("at most max_keys = 8 tokens, got 10", lambda: LinformerAttention(8, 4).double()(*inputs(10))),
    ("at most 8 tokens", lambda: BlockSparseAttention(torch.ones(2, 2).bool(), 4)(*inputs(9))),
    ("need_weights must be False", lambda: flash_attention(*inputs(3), need_weights=True)),
    ("as many tokens as query, 4, got 3", lambda: flash_attention(*inputs(4, n_keys=3), causal=True)),
    error=(TypeError, ValueError),
)
