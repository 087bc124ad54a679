import pytest
import torch

from attention_course import causal_mask, padding_mask
from attention_course.efficient.linear import LinearAttention, RunningSums, elu_plus_one


def inputs(n_tokens, seed=0):
    return torch.randn(3, 2, 3, n_tokens, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def reference(query, key, value, mask):
    """The definition: a matrix of kernel values, divided by its rows' sums."""
    kernel = elu_plus_one(query) @ elu_plus_one(key).transpose(-2, -1) * mask
    return kernel / kernel.sum(-1, keepdim=True) @ value


@pytest.mark.parametrize("n_tokens", [1, 63, 64, 65, 1500])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@torch.no_grad()
def test_it_equals_its_definition(n_tokens, causal):
    query, key, value = inputs(n_tokens)
    mask = padding_mask(torch.tensor([n_tokens, max(n_tokens // 2, 1)]))
    seen = mask & (causal_mask(n_tokens) if causal else True)
    output, _ = LinearAttention(causal=causal)(query, key, value, mask)
    torch.testing.assert_close(output, reference(query, key, value, seen))


@torch.no_grad()
def test_more_keys_than_queries():
    query, key, value = inputs(50)
    output, _ = LinearAttention()(query[..., :3, :], key, value)
    torch.testing.assert_close(output, reference(query, key, value, torch.tensor(True))[..., :3, :])


@torch.no_grad()
def test_one_token_at_a_time_equals_all_at_once():
    query, key, value = inputs(100)
    sums, outputs = RunningSums(value, 8), []
    for place in range(100):
        now = slice(place, place + 1)
        sums.add(elu_plus_one(key[..., now, :]), value[..., now, :])
        outputs.append(sums.read(elu_plus_one(query[..., now, :])))
    together, _ = LinearAttention(causal=True)(query, key, value)
    torch.testing.assert_close(torch.cat(outputs, dim=-2), together)
    assert sums.state.shape == (2, 3, 8, 8)  # whatever the number of tokens


def test_each_head_has_its_own_sums():
    query, key, value = inputs(20)
    alone, _ = LinearAttention()(query[:, :1], key[:, :1], value[:, :1])
    together, _ = LinearAttention()(query, key, value)
    torch.testing.assert_close(together[:, :1], alone)


def test_another_feature_map():
    query, key, value = inputs(30)
    output, _ = LinearAttention(feature_map=torch.exp)(query, key, value)
    kernel = query.exp() @ key.exp().transpose(-2, -1)
    torch.testing.assert_close(output, kernel / kernel.sum(-1, keepdim=True) @ value)
