import pytest
import torch
from contract import relative_error

from attention_course.efficient.linear import LinearAttention, RunningSums, elu_plus_one, linear_attention


def inputs(n_tokens, seed=0):
    return torch.randn(3, 2, 3, n_tokens, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_definition_is_the_formula_token_by_token():
    query, key, value = inputs(7)
    mask = torch.tensor([True, True, False, True, False, True, True])
    phi_q, phi_k = torch.nn.functional.elu(query) + 1, torch.nn.functional.elu(key) + 1
    output, weights = linear_attention(query, key, value, mask, causal=True)
    for i in range(7):
        total = weighted = 0.0
        for j in range(i + 1):
            if mask[j]:
                kernel = (phi_q[:, :, i] * phi_k[:, :, j]).sum(-1, keepdim=True)
                total, weighted = total + kernel, weighted + kernel * value[:, :, j]
        torch.testing.assert_close(output[:, :, i], weighted / total)
    torch.testing.assert_close(weights @ value, output)
    assert (weights[..., ~mask] == 0).all()


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


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@torch.no_grad()
def test_values_may_be_wider_than_keys(causal):
    (query, key, _), value = inputs(70), torch.cat(list(inputs(70, seed=1)), dim=-1)
    query = query if causal else query[..., :3, :]  # keys may be other tokens than the queries
    output, _ = LinearAttention(causal=causal)(query, key, value)
    assert output.shape == (*query.shape[:-1], 24)
    torch.testing.assert_close(output, linear_attention(query, key, value, causal=causal)[0])


def test_another_feature_map():
    query, key, value = inputs(30)
    output, _ = LinearAttention(feature_map=torch.exp)(query, key, value)
    kernel = query.exp() @ key.exp().transpose(-2, -1)
    torch.testing.assert_close(output, kernel / kernel.sum(-1, keepdim=True) @ value)
    torch.testing.assert_close(linear_attention(query, key, value, feature_map=torch.exp)[0], output)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float16, 1e-3), (torch.bfloat16, 8e-3)], ids=str)
@torch.no_grad()
def test_sums_over_many_tokens_keep_their_digits_and_do_not_overflow(causal, dtype, error):
    query, key, value = (tokens.to(dtype) for tokens in inputs(2048))
    value = value + 40  # whose sum, times the features, is more than float16 can hold
    output, _ = LinearAttention(causal=causal)(query, key, value)
    expected, _ = linear_attention(query.double(), key.double(), value.double(), causal=causal)
    assert output.dtype == dtype
    assert relative_error(output, expected) < error


def test_a_mask_of_whole_sequences_hides_them_over_several_tiles():
    """One number stands for all keys of a sequence, however many tiles they take."""
    torch.manual_seed(0)
    tokens = torch.randn(3, 2, 2, 1100, 4)
    mask = torch.tensor([True, False])[:, None, None, None]
    output, _ = LinearAttention()(*tokens, mask)
    torch.testing.assert_close(output[:1], LinearAttention()(*tokens[:, :1])[0])
    assert not output[1].any()


def test_functional_gradients_are_those_of_a_tensor():
    tokens = inputs(7)[0]
    derivative = torch.func.grad(lambda x: LinearAttention()(x, x, x)[0].square().sum())
    leaf = tokens.clone().requires_grad_()
    (expected,) = torch.autograd.grad(LinearAttention()(leaf, leaf, leaf)[0].square().sum(), leaf)
    torch.testing.assert_close(derivative(tokens), expected)
    torch.testing.assert_close(torch.func.vmap(derivative)(torch.stack([tokens, 2 * tokens]))[0], expected)
