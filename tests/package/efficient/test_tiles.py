"""Blocks of keys: what queries find in one, how it is merged, and the gradients that come through it."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from attention_course import causal_mask, scaled_dot_product_attention
from attention_course.efficient import tiles
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.tiles import attend_block, differentiate_block, merge


@pytest.mark.parametrize("n_queries", [1, 256, 300])
def test_a_block_knows_its_output_and_its_log_sum(n_queries):
    query, key, value = (torch.randn(2, n, d, dtype=torch.float64) for n, d in ((n_queries, 4), (400, 4), (400, 3)))
    output, log_sum = attend_block(query, key, value)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value))
    torch.testing.assert_close(log_sum, (query @ key.mT / 2).logsumexp(-1, keepdim=True))
    key, value = key[:, :n_queries], value[:, :n_queries]
    output, _ = attend_block(query, key, value, causal=True)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value, is_causal=True))


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_blocks_merge_in_any_order(scale):
    query, key, value = (torch.randn(n, 4, dtype=torch.float64) for n in (5, 12, 12))
    query = query * scale
    expected = F.scaled_dot_product_attention(query, key, value)
    parts = [
        attend_block(query, keys, values)
        for keys, values in zip(key.split([1, 4, 7]), value.split([1, 4, 7]), strict=True)
    ]
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        merged = torch.zeros(5, 4, dtype=torch.float64), torch.full((5, 1), -torch.inf, dtype=torch.float64)
        for part in order:
            merged = merge(*merged, *parts[part])
        torch.testing.assert_close(merged[0], expected)


def test_blocks_in_which_nothing_is_seen_merge_too():
    query, key, value = (torch.randn(n, 4, dtype=torch.float64) for n in (5, 6, 6))
    mask = torch.rand(5, 6, generator=torch.Generator().manual_seed(0)) < 0.5
    mask[0], mask[1, :3], mask[2, 3:] = False, False, False
    parts = [attend_block(query, key[part], value[part], mask[:, part]) for part in (slice(0, 3), slice(3, 6))]
    output, log_sum = merge(*parts[0], *parts[1])
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value, mask)[0])
    assert output[0].eq(0).all() and log_sum[0].item() == -torch.inf
    scores = (query @ key.mT / 2).masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(log_sum, scores.logsumexp(-1, keepdim=True))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_blocks_add_up_to_the_whole(causal, masked):
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(2, n, d, generator=generator, dtype=torch.float64).requires_grad_() for n, d in
              ((40, 4), (90, 4), (90, 3))]  # fmt: skip
    mask = torch.rand(2, 40, 90, generator=generator) < 0.2 if masked else None
    output, _ = scaled_dot_product_attention(*inputs, mask, causal=causal)
    grad = torch.randn(output.shape, generator=generator, dtype=torch.float64)
    expected = torch.autograd.grad(output, inputs, grad)
    seen = torch.ones(2, 40, 90, dtype=torch.bool) if mask is None else mask
    seen = seen & causal_mask(40, 90) if causal else seen

    query, key, value = (each.detach() for each in inputs)
    parts = [slice(0, 30), slice(30, 50), slice(50, 90)]
    merged = attend_block(query, key[:, parts[0]], value[:, parts[0]], seen[..., parts[0]])
    for part in parts[1:]:
        merged = merge(*merged, *attend_block(query, key[:, part], value[:, part], seen[..., part]))
    torch.testing.assert_close(merged[0], output)
    mean = (grad * output).sum(-1, keepdim=True)
    grads = [
        differentiate_block(query, key[:, part], value[:, part], grad, merged[1], mean, seen[..., part])
        for part in parts
    ]
    got = sum(each[0] for each in grads), *(torch.cat([each[i] for each in grads], dim=1) for i in (1, 2))
    for mine, its in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, its)
    if not masked:  # and in one block, that hides the future itself
        got = differentiate_block(query, key, value, grad, merged[1], mean, causal=causal)
        for mine, its in zip(got, expected, strict=True):
            torch.testing.assert_close(mine, its)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_summed_in_float32(dtype):
    query, key, value = (torch.randn(2, 900, 16, generator=torch.Generator().manual_seed(seed)).to(dtype)
                         for seed in range(3))  # fmt: skip
    for mine, exact in zip(
        attend_block(query, key, value), attend_block(query.double(), key.double(), value.double()), strict=True
    ):
        assert mine.dtype == torch.float32
        torch.testing.assert_close(mine.double(), exact, atol=1e-5, rtol=1e-5)


def test_no_more_is_multiplied_than_scores_ask_for_and_later_tiles_are_skipped():
    n, d = 4 * tiles.ROWS, 8
    tokens = [torch.randn(1, 1, n, d, requires_grad=True) for _ in range(3)]
    tile_share = (4 * 5 / 2) / 4**2  # the lower triangle of tiles, with its diagonal
    for causal, share in ((False, 1), (True, tile_share)):
        with FlopCounterMode(display=False) as forward:
            output, _ = flash_attention(*tokens, causal=causal)
        with FlopCounterMode(display=False) as backward:
            output.sum().backward()
        assert forward.get_total_flops() == 4 * n**2 * d * share
        assert backward.get_total_flops() == 10 * n**2 * d * share  # the scores anew, and two products for each of two


def test_a_tile_of_scores_is_made_in_the_same_memory_for_as_many_heads_as_have_room(monkeypatch):
    monkeypatch.setattr(tiles, "SCORES", 2 * 512 * 512)
    monkeypatch.setattr(tiles, "CORES", 1)
    query = torch.randn(5, 700, 4)
    scores = tiles._Scores(query, query, None, False)
    assert scores.heads == [slice(0, 2), slice(2, 4), slice(4, 5)]
    places = {tile.data_ptr() for tile, _ in scores.tiles(slice(0, 2), slice(0, 512))}
    assert len(places) == 1
    small = tiles._Scores(query[:, :100], query[:, :100], None, False)
    assert small.heads == [slice(0, 5)] and len(small.buffer) == 5 * 100 * 100
