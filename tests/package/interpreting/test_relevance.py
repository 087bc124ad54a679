"""Norms and relevance give what loops over heads and tokens give, and what can be worked out by hand."""

import pytest
import torch

from attention_course.attention import MultiHeadAttention
from attention_course.interpreting import relevance

SEED = torch.Generator().manual_seed(0)


@pytest.mark.parametrize("n_kv_heads", [4, 2])
def test_norms_are_those_of_the_vectors_that_add_up_to_the_output(n_kv_heads):
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 4, n_kv_heads).double()
    tokens = torch.randn(2, 5, 8, generator=SEED, dtype=torch.float64)
    output, weights = layer(tokens, need_weights=True)
    values = layer.value_proj(tokens).unflatten(-1, (n_kv_heads, 2))
    added = torch.zeros(2, 5, 5, 8, dtype=torch.float64)
    for head in range(4):
        part = layer.out_proj.weight[:, 2 * head : 2 * head + 2]
        added += weights[:, head, :, :, None] * (values[:, :, head * n_kv_heads // 4] @ part.T)[:, None]
    torch.testing.assert_close(added.sum(2) + layer.out_proj.bias, output)
    norms = relevance.weighted_norms(layer, tokens, weights)
    torch.testing.assert_close(norms, added.norm(dim=-1))
    assert not norms.requires_grad


def test_relevance_of_two_blocks_is_that_of_a_loop():
    """The number is a sum of products, so that the weights' gradients are known."""
    first, last, slopes = (torch.randn(3, 2, 4, 4, generator=SEED, dtype=torch.float64) for _ in range(3))

    def read(x):
        maps = [(block + x.sum() * 0).softmax(-1) for block in (first, last)]
        return (maps[0] * slopes).sum((1, 2, 3)) + (maps[1] ** 2 * slopes).sum((1, 2, 3)), maps

    found = relevance.relevance(read, torch.zeros(3, 4, 5, dtype=torch.float64))
    assert not found.requires_grad
    for example in range(3):
        relevant = torch.eye(4, dtype=torch.float64)
        for weights, gradient in (
            (first[example].softmax(-1), slopes[example]),
            (last[example].softmax(-1), 2 * last[example].softmax(-1) * slopes[example]),
        ):
            heads = [(weights[head] * gradient[head]).clamp_min(0) for head in range(2)]
            relevant = relevant + (heads[0] + heads[1]) / 2 @ relevant
        torch.testing.assert_close(found[example], relevant)


def test_the_input_stays_as_it_is_and_a_model_without_maps_is_refused():
    x = torch.zeros(1, 2, 3)
    with torch.no_grad(), pytest.raises(ValueError, match="weights of at least one block, got none"):
        relevance.relevance(lambda x: (x.sum((1, 2)), []), x)
    assert not x.requires_grad
