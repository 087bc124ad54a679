import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_layers import copy_attention
from refusing import refuses
from seeding import random
from torch import nn

from attention_course import MultiHeadAttention, causal_mask, scaled_dot_product_attention

sizes = st.integers(1, 7)
leading = st.sampled_from([(), (2,), (2, 3)])
TOLERANCE = {torch.float32: 3e-5, torch.float64: 1e-12}
dtypes = st.sampled_from(list(TOLERANCE))
temperatures = st.sampled_from([0.25, 1.0, 3.0])


@given(leading, sizes, sizes, sizes, sizes, dtypes, st.booleans(), st.integers(0, 2**31), temperatures)
@settings(deadline=None, max_examples=100)
def test_equals_pytorch(leading, n_queries, n_keys, d_k, d_v, dtype, masked, seed, temperature):
    torch.manual_seed(seed)
    query = torch.randn(*leading, n_queries, d_k, dtype=dtype)
    key, value = (torch.randn(*leading, n_keys, d, dtype=dtype) for d in (d_k, d_v))
    mask, bias = None, torch.randn(n_queries, n_keys, dtype=dtype)
    added = bias / temperature
    if masked:  # no row without a key: what PyTorch does there depends on its version
        mask = torch.rand(*leading, n_queries, n_keys) < 0.5
        mask[..., 0] = True
        added = added.masked_fill(~mask, -torch.inf)
    expected = F.scaled_dot_product_attention(query, key, value, added, scale=d_k**-0.5 / temperature)
    options = {"bias": bias, "temperature": temperature}
    fused, _ = scaled_dot_product_attention(query, key, value, mask, **options, need_weights=False)
    output, weights = scaled_dot_product_attention(query, key, value, mask, **options)
    for found in (fused, output, weights @ value):
        torch.testing.assert_close(found, expected, atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("of_bias", [None, (5, 5), (5,)])
@pytest.mark.parametrize("shape", [(5, 5), (2, 3, 5, 5), (2, 1, 1, 5), (5,)])
def test_fused_equals_materialised_forward_and_backward(shape, of_bias):
    torch.manual_seed(0)
    mask = torch.rand(shape) < 0.5
    if shape[-2:] == (5, 5):  # each query has its own row, and the first sees nothing
        mask[..., 0, :] = False
    bias = None if of_bias is None else torch.randn(of_bias)
    results = []
    for need_weights in (True, False):
        torch.manual_seed(1)
        inputs = [torch.randn(2, 3, 5, 8, requires_grad=True) for _ in range(3)]
        output, _ = scaled_dot_product_attention(*inputs, mask, bias=bias, temperature=0.7, need_weights=need_weights)
        output.square().sum().backward()
        results.append([output, *(tensor.grad for tensor in inputs)])
    for materialised, fused in zip(*results, strict=True):
        torch.testing.assert_close(fused, materialised, atol=2e-5, rtol=2e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_what_is_hidden_takes_nothing_from_the_lowest_scores_that_are_seen(dtype, temperature):
    """Other libraries write padding as a bias of the lowest number there is, beside which nothing may lie lower."""
    query, key, value = (random(1, 1, 4, 8, dtype=dtype, seed=seed) for seed in range(3))
    bias = torch.zeros(4, 4, dtype=dtype)
    bias[:, :2] = torch.finfo(dtype).min
    options = {"bias": bias, "causal": True, "temperature": temperature}
    output, weights = scaled_dot_product_attention(query, key, value, **options)
    assert weights.sum(-1).flatten().tolist() == pytest.approx([1, 1, 1, 1], abs=0.02)
    assert weights[0, 0, 0, 0] == 1 and weights[0, 0, 2, 2] == 1 and weights.triu(1).eq(0).all()
    fused, _ = scaled_dot_product_attention(query, key, value, **options, need_weights=False)
    error = 1e-5 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(fused[..., 2:, :], output[..., 2:, :], atol=error, rtol=error)


def test_what_hides_stays_hidden_at_an_infinite_temperature():
    tokens, bias = random(1, 1, 3, 4), torch.zeros(3)
    bias[0] = -torch.inf
    for need_weights in (True, False):
        output, _ = scaled_dot_product_attention(
            tokens, tokens, tokens, bias=bias, temperature=torch.inf, need_weights=need_weights
        )
        torch.testing.assert_close(output, tokens[..., 1:, :].mean(-2, keepdim=True).expand_as(output))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("learned", [False, True], ids=["fixed", "learned"])
@pytest.mark.parametrize("masked", ["", "mask", "causal"])
def test_infinity_below_zero_in_the_bias_hides(dtype, need_weights, learned, masked):
    """As the mask would: rows and columns of it, and rows of which bias and mask together leave nothing."""
    error = {torch.float64: 1e-14, torch.float32: 5e-6, torch.bfloat16: 0.05, torch.float16: 0.007}[dtype]
    hides = torch.zeros(6, 6, dtype=torch.bool)
    hides[1], hides[:, 4], hides[3, :3] = True, True, True
    mask = torch.arange(6) < 3 if masked == "mask" else None
    seen = ~hides if mask is None else ~hides & mask
    seen = seen & causal_mask(6) if masked == "causal" else seen
    results = []
    for hidden, shown in ((hides, mask), (torch.zeros(1, dtype=torch.bool), seen)):
        inputs = [random(2, 3, 6, 8, dtype=dtype, seed=seed).requires_grad_() for seed in range(3)]
        bias = random(6, 6, dtype=dtype, seed=3).masked_fill(hidden, -torch.inf).requires_grad_(learned)
        causal = masked == "causal" and hidden is hides
        output, weights = scaled_dot_product_attention(
            *inputs, shown, bias=bias, causal=causal, temperature=0.5, need_weights=need_weights
        )
        probe = random(*output.shape, dtype=dtype, seed=4)
        results.append([output, *torch.autograd.grad(output, [*inputs, bias] if learned else inputs, probe)])
        nothing = ~seen.any(-1)
        assert output[:, :, nothing].eq(0).all() and results[-1][1][:, :, nothing].eq(0).all()
        if need_weights:
            assert weights.masked_select(~seen).eq(0).all()
            assert (weights.sum(-1) - (~nothing).to(dtype)).abs().max() < error
    for by_bias, by_mask in zip(*results, strict=True):
        torch.testing.assert_close(by_bias, by_mask, atol=error, rtol=error)


def test_weights_are_those_before_dropout():
    torch.manual_seed(0)
    query = torch.randn(4, 6, 8)
    _, undropped = scaled_dot_product_attention(query, query, query)
    output, weights = scaled_dot_product_attention(query, query, torch.eye(6).expand(4, 6, 6), dropout=0.5)
    torch.testing.assert_close(weights, undropped)
    # With the identity for values the output is the dropped weights: zero, or doubled.
    kept = output != 0
    assert 0.3 < kept.float().mean() < 0.7
    torch.testing.assert_close(output[kept], 2 * weights[kept])


Q = torch.randn(2, 3, 4)
NAN = float("nan")


test_bad_input_is_named = refuses(
    ("bias must broadcast", lambda: scaled_dot_product_attention(Q, Q, Q, bias=torch.ones(3, 4))),
    ("temperature must be above 0, got 0", lambda: scaled_dot_product_attention(Q, Q, Q, temperature=0)),
    ("temperature must be above 0, got nan", lambda: scaled_dot_product_attention(Q, Q, Q, temperature=NAN)),
    ("dropout", lambda: scaled_dot_product_attention(Q, Q, Q, dropout=1)),
    ("dropout must lie in .0, 1., got nan", lambda: MultiHeadAttention(4, 2, dropout=NAN)),
    ("n_heads must divide", lambda: MultiHeadAttention(10, 3)),
    ("n_kv_heads must divide", lambda: MultiHeadAttention(12, 4, 3)),
    ("value came without key", lambda: MultiHeadAttention(4, 2)(Q, value=Q)),
    ("key must have shape", lambda: MultiHeadAttention(4, 2)(Q, Q[..., :2])),
    ("query must have shape", lambda: MultiHeadAttention(4, 2)(Q[0])),
)


@pytest.mark.parametrize("n_heads", [1, 2, 4])
@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_equals_pytorchs(n_heads, masked):
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, n_heads)
    theirs = nn.MultiheadAttention(16, n_heads, batch_first=True)
    copy_attention(ours, theirs)
    query, key, value = torch.randn(3, 4, 16), torch.randn(3, 6, 16), torch.randn(3, 6, 16)
    mask = torch.rand(4, 6) < 0.5
    mask[:, 0] = True
    expected = theirs(query, key, value, attn_mask=~mask if masked else None, average_attn_weights=False)
    fused, _ = ours(query, key, value, mask if masked else None)
    found = ours(query, key, value, mask if masked else None, need_weights=True)
    for mine, theirs in zip((fused, *found), (expected[0], *expected), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_shared_key_value_heads_equal_full_heads_with_copied_weights(n_kv_heads):
    torch.manual_seed(0)
    shared, full = MultiHeadAttention(16, 4, n_kv_heads), MultiHeadAttention(16, 4)
    copied = {
        name: value.unflatten(0, (-1, 4)).repeat_interleave(16 // len(value), dim=0).flatten(0, 1)
        for name, value in shared.state_dict().items()
    }
    full.load_state_dict(copied)
    tokens = torch.randn(2, 5, 16)
    for mine, theirs in zip(shared(tokens, need_weights=True), full(tokens, need_weights=True), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=0)


def test_key_and_value_default_to_self_attention():
    torch.manual_seed(0)
    layer, tokens, other = MultiHeadAttention(8, 2), torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    assert torch.equal(layer(tokens)[0], layer(tokens, tokens, tokens)[0])
    assert torch.equal(layer(tokens, other)[0], layer(tokens, other, other)[0])
    assert layer(tokens)[1] is None


def test_any_mechanism_plugs_in_and_drops_only_in_training():
    seen = []

    def mean(query, key, value, mask, *, dropout, need_weights):
        seen.append(dropout)
        return value.mean(-2, keepdim=True).expand_as(query), None

    layer, tokens = MultiHeadAttention(8, 2, dropout=0.3, attention=mean), torch.randn(2, 3, 8)
    output, _ = layer(tokens)
    torch.testing.assert_close(output[:, 0], layer.out_proj(layer.value_proj(tokens).mean(1)))
    layer.eval()(tokens)
    assert seen == [0.3, 0.0]


def test_a_layer_has_biases_in_all_its_projections_or_in_none():
    for bias, expected in ((True, 4), (False, 0)):
        names = [name for name, _ in MultiHeadAttention(8, 2, bias=bias).named_parameters()]
        assert sum(name.endswith("bias") for name in names) == expected
