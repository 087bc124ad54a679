"""Flash attention beyond its equality with dense attention (test_exact.py): any shape of masks, caches."""

import pytest
import torch
from derivatives import assert_same
from seeding import seeded

from attention_course import causal_mask, padding_mask, scaled_dot_product_attention
from attention_course.efficient.flash import FlashAttention, flash_attention


def inputs(n_queries, n_keys, leading=(2, 3)):
    return [
        torch.randn(*leading, n, d, generator=seeded(i), dtype=torch.float64).requires_grad_()
        for i, (n, d) in enumerate(((n_queries, 8), (n_keys, 8), (n_keys, 5)))
    ]


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_any_leading_dimensions_and_any_mask_that_broadcasts(leading, causal):
    n_queries, n_keys = 20, 30
    tokens = inputs(n_queries, n_keys, leading)
    for n_dims in range(3 + len(leading)):
        full = (*leading, n_queries, n_keys)[len(leading) + 2 - n_dims :]
        shapes = {full, (*full[:-2], 1, *full[-1:]), (1,) * n_dims, (*full[:-1], 1) if full else full}
        for shape in shapes if n_dims else [()]:
            mask = torch.rand(shape, generator=seeded(n_dims)) < 0.7
            expected, _ = scaled_dot_product_attention(*tokens, mask, causal=causal)
            assert_same(flash_attention(*tokens, mask, causal=causal)[0], expected, tokens)


@pytest.mark.parametrize("n_queries", [1, 3, 511, 512, 513, 700])
@pytest.mark.parametrize("earlier", [0, 1, 511, 512, 600])
def test_causal_queries_are_the_newest_tokens(n_queries, earlier):
    n_keys = n_queries + earlier
    tokens, mask = inputs(n_queries, n_keys), padding_mask(torch.tensor([n_keys, (n_keys + 1) // 2]))
    expected, _ = scaled_dot_product_attention(*tokens, mask & causal_mask(n_queries, n_keys))
    assert_same(flash_attention(*tokens, mask, causal=True)[0], expected, tokens)


def test_it_says_whether_it_is_causal():
    assert repr(FlashAttention(causal=True)) == "FlashAttention(causal=True)"
    with pytest.raises(ValueError, match="dropout 0: the weights are never stored, got False and 0.1"):
        FlashAttention()(*inputs(3, 3), dropout=0.1)
