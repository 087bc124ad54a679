"""Flash attention beyond its equality with dense attention (test_exact.py): masks, caches, dtypes, layouts."""

from functools import partial

import pytest
import torch
from seeding import seeded

from attention_course import causal_mask, padding_mask, scaled_dot_product_attention
from attention_course.efficient.flash import FlashAttention, flash_attention
from attention_course.measure import peak_memory


def inputs(n_queries, n_keys, dtype=torch.float64, leading=(2, 3)):
    return [
        torch.randn(*leading, n, d, generator=seeded(i)).to(dtype).requires_grad_()
        for i, (n, d) in enumerate(((n_queries, 8), (n_keys, 8), (n_keys, 5)))
    ]


def results(attend, tokens):
    output, _ = attend(*tokens)
    probe = torch.randn(output.shape, generator=seeded(9)).to(output.dtype)
    return [output, *torch.autograd.grad(output, tokens, probe)]


def assert_equal(attend, dense, tokens, **tolerance):
    for mine, its in zip(results(attend, tokens), results(dense, tokens), strict=True):
        torch.testing.assert_close(mine, its, **tolerance)


def call(attention, mask, causal, *tokens):
    return attention(*tokens, mask, causal=causal)


LEADING = [(), (3,), (2, 3), (2, 1, 3)]


@pytest.mark.parametrize("leading", LEADING, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_any_leading_dimensions_and_any_mask_that_broadcasts(leading, causal):
    n_queries, n_keys = 20, 30
    for n_dims in range(3 + len(leading)):
        full = (*leading, n_queries, n_keys)[len(leading) + 2 - n_dims :]
        shapes = {full, (*full[:-2], 1, *full[-1:]), (1,) * n_dims, (*full[:-1], 1) if full else full}
        for shape in shapes if n_dims else [()]:
            mask = torch.rand(shape, generator=seeded(n_dims)) < 0.7
            assert_equal(
                partial(call, flash_attention, mask, causal),
                partial(call, scaled_dot_product_attention, mask, causal),
                inputs(n_queries, n_keys, leading=leading),
            )


@pytest.mark.parametrize("n_queries", [1, 3, 511, 512, 513, 700])
@pytest.mark.parametrize("earlier", [0, 1, 511, 512, 600])
def test_causal_queries_are_the_newest_tokens(n_queries, earlier):
    tokens = inputs(n_queries, n_queries + earlier, leading=(1, 2))
    mask = causal_mask(n_queries, n_queries + earlier)
    assert_equal(
        lambda *tokens: flash_attention(*tokens, causal=True),
        lambda *tokens: scaled_dot_product_attention(*tokens, mask),
        tokens,
    )


TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 0.016, torch.float16: 0.002}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_every_dtype_is_within_its_rounding_of_float64(dtype, causal):
    tokens = inputs(600, 600, dtype)
    exact = [each.detach().double().requires_grad_() for each in tokens]
    got = results(lambda *tokens: flash_attention(*tokens, causal=causal), tokens)
    expected = results(lambda *tokens: scaled_dot_product_attention(*tokens, causal=causal), exact)
    for mine, its in zip(got, expected, strict=True):
        assert mine.dtype == dtype
        torch.testing.assert_close(mine.double(), its, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


def test_any_layout_of_memory():
    memory = torch.randn(2, 600, 3, 9, generator=seeded(), dtype=torch.float64)
    views = [memory[..., offset : offset + 6].transpose(1, 2).requires_grad_() for offset in range(3)]
    copies = [view.detach().clone(memory_format=torch.contiguous_format).requires_grad_() for view in views]
    for mine, its in zip(results(flash_attention, views), results(flash_attention, copies), strict=True):
        torch.testing.assert_close(mine, its)
    broadcast = torch.randn(1, 1, 600, 6, generator=seeded(), dtype=torch.float64).expand(2, 3, -1, -1)
    expected, _ = scaled_dot_product_attention(broadcast, broadcast, broadcast)
    torch.testing.assert_close(flash_attention(broadcast, broadcast, broadcast)[0], expected)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 3), (3, 0), (0, 0)])
def test_empty_sequences_give_empty_results_and_zeros(n_queries, n_keys):
    output, *gradients = results(flash_attention, inputs(n_queries, n_keys))
    assert output.shape == (2, 3, n_queries, 5) and output.eq(0).all()
    assert all(gradient.eq(0).all() for gradient in gradients)


def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients():
    mask = torch.rand(600, 600, generator=seeded()) < 0.3
    mask[5], mask[590] = False, False
    output, *gradients = results(lambda *tokens: flash_attention(*tokens, mask), inputs(600, 600))
    assert output[..., [5, 590], :].eq(0).all() and output[..., 6, :].ne(0).all()
    assert gradients[0][..., [5, 590], :].eq(0).all()
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("by", ["mask", "mask of each query", "causal"])
def test_hidden_numbers_change_nothing(dtype, by):
    """Those that the mask hides may be the largest there are; the future may be as large as its own scores allow."""
    n, first_hidden = 600, 500
    huge = torch.finfo(dtype).max if by != "causal" else {torch.float16: 1e4, torch.float64: 1e100}.get(dtype, 1e15)
    tokens = inputs(n, n, dtype)
    mask = {"mask": padding_mask(torch.tensor([first_hidden, first_hidden]), n)}.get(by)
    if by == "mask of each query":
        mask = (torch.rand(n, n, generator=seeded()) < 0.5) & (torch.arange(n) < first_hidden)

    def attend(query, key, value):
        output, _ = flash_attention(query, key, value, mask, causal=by == "causal")
        return output[..., :first_hidden, :], None

    before = results(attend, tokens)
    for changed in ((1,), (2,), (1, 2)):
        other = [each.detach().clone() for each in tokens]
        for place in changed:
            signs = torch.randn(other[place][..., first_hidden:, :].shape, generator=seeded(7)).sign()
            other[place][..., first_hidden:, :] = signs.to(dtype) * huge
        after = results(attend, [each.requires_grad_() for each in other])
        assert all(torch.equal(one, another) for one, another in zip(before, after, strict=True))
        assert all(gradient[..., first_hidden:, :].eq(0).all() for gradient in after[2:])


def test_memory_for_gradients_grows_with_the_tokens_alone():
    def forward_and_backward(n):
        results(lambda *tokens: flash_attention(*tokens, causal=True), inputs(n, n, torch.float32, (1, 2)))

    short, long = (peak_memory(lambda n=n: forward_and_backward(n)) for n in (2048, 8192))
    assert long < 4.5 * short
    assert long < 2 * 8192**2 * 4 / 5  # bytes of one copy of the weights


def test_it_says_whether_it_is_causal():
    assert repr(FlashAttention(causal=True)) == "FlashAttention(causal=True)"
    with pytest.raises(ValueError, match="dropout 0: the weights are never stored, got False and 0.1"):
        FlashAttention()(*inputs(3, 3), dropout=0.1)
