"""The fused kernel: when it is asked to hide the future itself, and what hidden numbers may be."""

import pytest
import torch
import torch.nn.functional as F
from seeding import random

from attention_course import MultiHeadAttention, causal_mask, fused, padding_mask, scaled_dot_product_attention
from attention_course.language_model import CausalLanguageModel


@pytest.fixture
def calls(monkeypatch):
    """The mask and `is_causal` of each call to PyTorch's kernel."""
    seen = []

    def kernel(query, key, value, mask, dropout, is_causal, *, scale):
        seen.append((mask, is_causal))
        return F.scaled_dot_product_attention(query, key, value, mask, dropout, is_causal, scale=scale)

    monkeypatch.setattr(fused, "F", type("F", (), {"scaled_dot_product_attention": staticmethod(kernel)}))
    return seen


@torch.no_grad()
def test_a_language_model_without_a_mask_makes_none(calls):
    model = CausalLanguageModel(11, 16, 4, 2)
    symbols = torch.randint(11, (2, 9), generator=torch.Generator().manual_seed(0))
    expected, _ = model(symbols, causal_mask(9))
    assert [causal for _, causal in calls] == [False, False]
    calls.clear()
    torch.testing.assert_close(model(symbols)[0], expected)
    assert calls == [(None, True), (None, True)]
    calls.clear()
    model.generate(symbols, 3)  # a single symbol, the newest, may see all: still no mask
    assert calls == 2 * [(None, True)] + 4 * [(None, False)]


@pytest.mark.parametrize(
    ("n_queries", "options"),
    [(5, {}), (5, {"mask": padding_mask(torch.tensor([5, 3]))}), (3, {}), (5, {"bias": random(5, 5, seed=9)}), (1, {})],
)
def test_causal_is_the_causal_mask(n_queries, options):
    inputs = [random(2, 4, n, 8, seed=n).requires_grad_() for n in (n_queries, 5, 5)]
    mask = causal_mask(n_queries, 5)
    if "mask" in options:
        mask = mask & options["mask"]
    expected, weights = scaled_dot_product_attention(*inputs, mask, bias=options.get("bias"))
    for need_weights in (True, False):
        output, got = scaled_dot_product_attention(*inputs, causal=True, need_weights=need_weights, **options)
        torch.testing.assert_close(output, expected, atol=2e-6, rtol=2e-5)
        assert got is None if not need_weights else torch.equal(got, weights)
        ours, theirs = (
            torch.autograd.grad(each.square().sum(), inputs, retain_graph=True) for each in (output, expected)
        )
        for mine, its in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine, its, atol=1e-5, rtol=1e-4)


DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("scale", [None, 100.0])
def test_what_one_query_does_not_see_may_hold_the_largest_numbers(dtype, need_weights, with_bias, scale):
    """Others see it, so that it cannot be taken out; and queries may be large too, if what they do see allows it."""
    query, key, value = (random(2, 3, n, 8, dtype=dtype, seed=n) for n in (5, 6, 6))
    signs = torch.tensor([1.0, -1.0]).repeat(4).to(dtype)
    query[..., 1, :] = signs * (2.0 if dtype == torch.float16 else torch.finfo(dtype).max ** 0.6)
    bias = random(5, 6, dtype=dtype) if with_bias else None
    mask = torch.rand(2, 1, 5, 6, generator=torch.Generator().manual_seed(1)) < 0.7
    mask[..., 1:3, 4], mask[..., 4, 4], mask[..., 2, :] = False, True, False
    blind, here = ~mask[..., 4:5], torch.arange(6)[:, None] == 4
    outputs = []
    for k, v in ((key, value), (each.where(~here, torch.finfo(dtype).max * signs) for each in (key, value))):
        output, _ = scaled_dot_product_attention(query, k, v, mask, bias=bias, scale=scale, need_weights=need_weights)
        outputs.append(output.where(blind, 0.0))
    assert outputs[0].isfinite().all() and outputs[0][..., 1, :].abs().max() > 0
    assert torch.equal(*outputs)
    assert outputs[1][..., 2, :].eq(0).all()


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_a_later_key_may_hold_the_largest_numbers(leading):
    """Whichever of PyTorch's kernels it is: they differ with the number of dimensions."""
    query, key, value = (10 + random(*leading, 3, 8, seed=seed) for seed in range(3))
    expected, _ = scaled_dot_product_attention(query[..., :2, :], key[..., :2, :], value[..., :2, :], causal=True)
    key[..., 2, :] = 1e38
    output, _ = scaled_dot_product_attention(query, key, value, causal=True, need_weights=False)
    torch.testing.assert_close(output[..., :2, :], expected)
    assert output.isfinite().all()


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("by", ["bias", "mask", "padding"])
def test_what_is_hidden_from_all_may_hold_the_largest_numbers(by, need_weights):
    """In other dtypes, and its gradients: test_hidden.py."""
    query, key, value = (random(2, 3, n, 8, seed=n) for n in (5, 6, 6))
    seen = padding_mask(torch.tensor([6, 4])) if by == "padding" else torch.arange(6) != 4
    bias = random(6, seed=1)
    hides = {"bias": bias.masked_fill(~seen, -torch.inf)} if by == "bias" else {"mask": seen, "bias": bias}
    expected, _ = scaled_dot_product_attention(query, key, value, **hides, need_weights=need_weights)
    huge = random(2, 3, 6, 8, seed=7).sign() * torch.finfo(torch.float32).max
    key, value = (tokens.where(torch.atleast_2d(seen).mT, huge) for tokens in (key, value))
    output, _ = scaled_dot_product_attention(query, key, value, **hides, need_weights=need_weights)
    assert torch.equal(output, expected) and expected.abs().max() > 0


def test_numbers_whose_scores_cannot_overflow_are_left_as_they_are():
    query, key, value = (1e16 * random(2, 3, 6, 8, seed=seed) for seed in range(3))
    output, _ = scaled_dot_product_attention(query, key, value, causal_mask(6), need_weights=False)
    expected, _ = scaled_dot_product_attention(query, key, value, causal_mask(6))
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
def test_long_vectors_in_half_precision(dtype, need_weights):
    """Unscaled, the products of these would be beyond the largest number of float16."""
    query, key, value = (random(2, 2, 40, 64, dtype=dtype, seed=seed) for seed in range(3))
    query, key = 60 * query.sign(), 60 * key.sign()
    assert (query.double() @ key.double().mT).max() > torch.finfo(torch.float16).max
    expected, _ = scaled_dot_product_attention(query.double(), key.double(), value.double())
    output, _ = scaled_dot_product_attention(query, key, value, need_weights=need_weights)
    torch.testing.assert_close(output.double(), expected, atol=0.03, rtol=0.01)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 3), (3, 0), (0, 0)])
def test_empty_sequences_give_empty_results_and_zeros(n_queries, n_keys, need_weights):
    inputs = [random(2, 4, n, 8).requires_grad_() for n in (n_queries, n_keys, n_keys)]
    for mask in (None, torch.ones(2, 1, 1, n_keys, dtype=torch.bool)):
        output, weights = scaled_dot_product_attention(*inputs, mask, need_weights=need_weights)
        assert output.shape == (2, 4, n_queries, 8) and output.eq(0).all()
        assert weights is None if not need_weights else weights.shape == (2, 4, n_queries, n_keys)
        assert all(each.eq(0).all() for each in torch.autograd.grad(output.sum(), inputs))
    layer = MultiHeadAttention(8, 2)
    output, _ = layer(random(2, n_queries, 8), random(2, n_keys, 8), need_weights=need_weights)
    torch.testing.assert_close(output, layer.out_proj(torch.zeros(2, n_queries, 8)))


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_numbers_are_cut_off_where_their_scores_could_overflow(scale):
    """However many queries there are; scaled or not, the largest score is a quarter of the largest number."""
    most = torch.finfo(torch.float32).max
    query, key = fused.bounded(torch.full((5, 8), most), torch.full((3, 8), -most), scale)
    scores = query.double() @ key.double().mT
    torch.testing.assert_close(scores, torch.full((5, 3), -most / 4 / max(scale, 1), dtype=torch.float64))
