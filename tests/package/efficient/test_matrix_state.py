"""Retention, gated linear attention, the gated delta rule: in chunks as token by token, in a state that stays small."""

import math
from contextlib import nullcontext
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from contract import relative_error
from derivatives import assert_same
from seeding import seeded

from attention_course import KVCache, padding_mask
from attention_course.efficient.gated_delta import GatedDeltaNet, gated_delta_chunk, gated_delta_rule
from attention_course.efficient.gated_linear import GatedLinearAttention, gated_linear_attention, gated_linear_chunk
from attention_course.efficient.matrix_state import StateCache, fading
from attention_course.efficient.retention import MultiScaleRetention, retention, retention_chunk

D_MODEL, N_HEADS, D_HEAD = 24, 3, 8
LAYERS = {
    "retention": MultiScaleRetention,
    "gated linear": GatedLinearAttention,
    "gated delta": GatedDeltaNet,
    "delta": partial(GatedDeltaNet, gated=False),
}
EVERY = pytest.mark.parametrize("name", LAYERS)
# A layer's dtype, the one that autocast asks for, and the error of pieces against the whole.
PRECISIONS = {
    "float64": (torch.float64, None, 1e-13),
    "float32": (torch.float32, None, 8e-6),
    "bfloat16": (torch.bfloat16, None, 3e-2),
    "float16": (torch.float16, None, 3.5e-3),
    "autocast bfloat16": (torch.float32, torch.bfloat16, 3e-2),
    "autocast float16": (torch.float32, torch.float16, 3.5e-3),
}


def layer_of(name, dtype=torch.float64):
    torch.manual_seed(0)
    return LAYERS[name](D_MODEL, N_HEADS).to(dtype)


def tokens_of(n_tokens, seed=0, dtype=torch.float64, batch=2):
    return torch.randn(batch, n_tokens, D_MODEL, generator=seeded(seed), dtype=torch.float64).to(dtype)


def heads_of(n_tokens, width=D_HEAD):
    """Queries, keys of length 1, values, logarithms of gates and strengths."""
    query, key, value = torch.randn(3, 2, N_HEADS, n_tokens, D_HEAD, generator=seeded(), dtype=torch.float64)
    gate, strength = torch.rand(2, 2, N_HEADS, n_tokens, D_HEAD, generator=seeded(1), dtype=torch.float64)
    return query, F.normalize(key, dim=-1), value, gate[..., :width].log(), strength[..., :1]


def in_chunks(chunk, size, *sequences):
    """What the queries read, with a state of zeros before."""
    state = torch.zeros(2, N_HEADS, D_HEAD, D_HEAD, dtype=sequences[0].dtype)
    found = []
    for piece in zip(*(each.split(size, dim=2) for each in sequences), strict=True):
        read, state = chunk(*piece, state)
        found.append(read)
    return torch.cat(found, dim=2)


# The mechanisms -------------------------------------------------------------------------------------------------------


def test_what_fades_is_the_product_of_the_gates_between():
    gate = torch.rand(7, 2, generator=seeded(), dtype=torch.float64)
    gate[3, 0] = 1e-300  # twice would be below what a double can hold
    gate[4, 0] = 1e-300
    left = fading(gate.log())
    for i in range(7):
        for j in range(7):
            expected = gate[j + 1 : i + 1].prod(0) if j <= i else torch.zeros(2, dtype=torch.float64)
            torch.testing.assert_close(left[i, j], expected)


def test_gates_that_underflow_leave_later_ones_their_digits():
    """Divided by their running product, or subtracted from its logarithm, they would be nothing, or off by far."""
    log_gate = torch.tensor([-0.1, -1e6, -0.2, -0.3]).requires_grad_()
    left = fading(log_gate.unsqueeze(-1))[3, :, 0]  # at the last token, of each
    expected = torch.tensor([0.0, math.exp(-0.5), math.exp(-0.3), 1.0])
    torch.testing.assert_close(left, expected)
    (gradient,) = torch.autograd.grad(left.sum(), log_gate)
    torch.testing.assert_close(gradient, torch.tensor([0.0, 0.0, expected[1], expected[1] + expected[2]]))


@pytest.mark.parametrize("size", [1, 7, 40])
def test_retention_is_attention_whose_scores_fade(size):
    query, key, value, *_ = heads_of(40)
    decay = torch.tensor([0.5, 0.9, 1.0], dtype=torch.float64)
    ahead = (torch.arange(40)[:, None] - torch.arange(40)).clamp_min(0)
    expected = (query @ key.mT * decay[:, None, None] ** ahead).tril() @ value
    torch.testing.assert_close(retention(query, key, value, decay), expected)
    log_decay = decay.log()[:, None, None].expand(2, -1, 40, 1)
    torch.testing.assert_close(in_chunks(retention_chunk, size, query, key, value, log_decay), expected)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_gated_linear_attention_is_attention_whose_scores_fade_by_feature(size):
    query, key, value, log_gate, _ = heads_of(40)
    kept = log_gate.exp().cumprod(2)  # forty gates of a half: as small as 1e-12, and far from underflow
    expected = (query * kept @ (key / kept).mT).tril() @ value
    torch.testing.assert_close(gated_linear_attention(query, key, value, log_gate.exp()), expected)
    torch.testing.assert_close(in_chunks(gated_linear_chunk, size, query, key, value, log_gate), expected)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_the_gated_delta_rule_is_a_product_of_matrices(size):
    query, key, value, log_gate, strength = heads_of(40, width=1)
    state, expected = torch.zeros(2, N_HEADS, D_HEAD, D_HEAD, dtype=torch.float64), []
    for t in range(40):
        k, v, beta = key[:, :, t, :, None], value[:, :, t, None, :], strength[:, :, t, :, None]
        state = log_gate[:, :, t, :, None].exp() * (torch.eye(D_HEAD) - beta * k @ k.mT) @ state + beta * k @ v
        expected.append(state.mT @ query[:, :, t, :, None])
    expected = torch.stack(expected, 2).squeeze(-1)
    gate = log_gate.exp()
    torch.testing.assert_close(gated_delta_rule(query, key, value, gate, strength), expected)
    torch.testing.assert_close(in_chunks(gated_delta_chunk, size, query, key, value, log_gate, strength), expected)


@pytest.mark.parametrize(
    ("chunk", "width", "definition"),
    [(gated_linear_chunk, D_HEAD, gated_linear_attention), (gated_delta_chunk, 1, gated_delta_rule)],
)
def test_gates_from_nothing_to_all_have_the_definitions_gradients(chunk, width, definition):
    query, key, value, log_gate, strength = heads_of(40, width)
    log_gate[:, :, ::5], log_gate[:, :, 1::5], log_gate[:, :, 2::5] = -1000.0, 0.0, -30.0
    given = [query, key, value, log_gate, strength][: 5 if chunk is gated_delta_chunk else 4]
    given = [each.clone().requires_grad_() for each in given]
    assert_same(in_chunks(chunk, 16, *given), definition(*given[:3], given[3].exp(), *given[4:]), given)


# The layers -----------------------------------------------------------------------------------------------------------


def test_decays_begin_as_the_papers_and_are_learned():
    layer = layer_of("retention")
    expected = torch.tensor([1 - 2.0**-5, 1 - 2.0**-6, 1 - 2.0**-7], dtype=torch.float64)
    torch.testing.assert_close(layer.decay, expected)
    layer(tokens_of(20))[0].square().sum().backward()
    assert (layer.decay_logit.grad != 0).all()
    with torch.no_grad():
        layer.decay_logit.fill_(0.0)
    torch.testing.assert_close(layer.fresh().decay, expected)


@EVERY
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("size", [1, 7, 50])
@torch.no_grad()
def test_decoding_in_pieces_is_one_call_over_the_whole(name, precision, size):
    dtype, autocast, error = PRECISIONS[precision]
    layer, tokens, cache = layer_of(name, dtype), tokens_of(150, dtype=dtype), StateCache()
    with torch.autocast("cpu", autocast) if autocast else nullcontext():
        expected, _ = layer(tokens, causal=True)
        output = torch.cat([layer(piece, cache=cache)[0] for piece in tokens.split(size, dim=1)], dim=1)
    assert len(cache) == 150
    assert output.dtype == expected.dtype == (autocast or dtype)
    torch.testing.assert_close(output, expected, atol=error, rtol=0)
    assert cache.state.dtype == torch.promote_types(dtype, torch.float32)


@EVERY
@torch.no_grad()
def test_the_state_is_as_large_after_many_tokens_as_after_few(name):
    layer, cache, sizes = layer_of(name, torch.float32), layer_of(name).cache(), {}
    assert (len(cache), cache.nbytes, cache.state) == (0, 0, None)
    for piece in tokens_of(4096, dtype=torch.float32).split(32, dim=1):
        layer(piece, cache=cache)
        sizes[len(cache)] = cache.nbytes, cache.state.untyped_storage().nbytes()
    expected = 2 * N_HEADS * D_HEAD * D_HEAD * 4  # sequences, heads, their matrix, bytes
    assert sizes[64] == sizes[4096] == (expected, expected)


@EVERY
@torch.no_grad()
def test_no_chunk_holds_more_tokens_than_it_may(name, monkeypatch):
    layer, sizes = layer_of(name), []
    monkeypatch.setattr(layer, "chunk_size", 7)
    chunk = layer.chunk

    def watched(query, *rest):
        sizes.append(query.size(-2))
        return chunk(query, *rest)

    monkeypatch.setattr(layer, "chunk", watched)
    layer(tokens_of(20))
    assert sizes == [7, 7, 6]


@EVERY
@torch.no_grad()
def test_a_head_may_be_shown_other_tokens_than_its_neighbour(name):
    layer, tokens = layer_of(name), tokens_of(30)
    mask = torch.rand(2, N_HEADS, 1, 30, generator=seeded(3)) < 0.6
    layer.out_proj.weight.copy_(torch.eye(D_MODEL))
    output = layer(tokens, mask=mask)[0].unflatten(-1, (N_HEADS, D_HEAD))
    for row in range(2):
        for head in range(N_HEADS):
            alone, _ = layer(tokens[row : row + 1], mask=mask[row, head])
            torch.testing.assert_close(output[row, :, head], alone[0].unflatten(-1, (N_HEADS, D_HEAD))[:, head])


@EVERY
@torch.no_grad()
def test_with_a_cache_the_mask_counts_earlier_tokens(name):
    layer, tokens, cache, outputs = layer_of(name), tokens_of(30), StateCache(), []
    real = padding_mask(torch.tensor([30, 22])).flip(-1)  # the second sequence's padding stands in front
    for piece in tokens.split(4, dim=1):
        so_far = len(cache) + piece.size(1)
        outputs.append(layer(piece, mask=real[..., :so_far], cache=cache)[0])
    expected, _ = layer(tokens, mask=real)
    torch.testing.assert_close(torch.cat(outputs, 1), expected)
    assert (expected[1, :8] == 0).all()
    torch.testing.assert_close(expected[1, 8:], layer(tokens[1:, 8:])[0][0])
    before = cache.state
    hidden, _ = layer(tokens[:, :3], mask=torch.zeros(1, dtype=torch.bool), cache=cache)
    assert torch.equal(cache.state, before) and len(cache) == 33
    assert hidden.abs().sum() > 0  # they still read what stands there


@EVERY
def test_a_cache_holds_no_history(name):
    layer, tokens, cache = layer_of(name), tokens_of(9), StateCache()
    layer(tokens[:, :5], cache=cache)
    assert not cache.state.requires_grad
    layer(tokens[:, 5:], cache=cache)[0].sum().backward()


@EVERY
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@torch.no_grad()
def test_long_sequences_in_half_precision_are_summed_in_float32(name, dtype):
    layer, tokens = layer_of(name, dtype), tokens_of(4096, dtype=dtype, batch=1)
    expected, _ = layer.double()(tokens.double())
    output, _ = layer.to(dtype)(tokens)
    assert relative_error(output, expected) < {torch.bfloat16: 1.2e-2, torch.float16: 1.5e-3}[dtype]


@EVERY
@torch.no_grad()
def test_what_is_refused_leaves_the_cache_as_it_was(name):
    layer, tokens = layer_of(name), tokens_of(10)
    cache = layer.cache()
    layer(tokens, cache=cache)
    state, causal = cache.state.clone(), torch.ones(10, 20, dtype=torch.bool)
    refused = [
        ("need_weights must be False", partial(layer, tokens, need_weights=True)),
        ("mask must be the same for all queries", partial(layer, tokens, mask=causal)),
        ("mask must be the same for all queries", partial(layer, tokens, mask=torch.tensor(True))),
        (r"mask must broadcast .* \(2, 3, 10, 20\), got \(10,\)", partial(layer, tokens, mask=causal[0, :10])),
        ("mask must be boolean", partial(layer, tokens, mask=causal[:1].float())),
        ("value came without key", partial(layer, tokens, value=tokens)),
        ("key must have as many tokens as query, 10, got 9", partial(layer, tokens, tokens[:, 1:])),
        ("query must have shape .batch, tokens, 24.", partial(layer, tokens[..., 1:])),
        (r"state of shape \(1, 3, 8, 8\), got one of \(2, 3, 8, 8\)", partial(layer, tokens[:1])),
        ("state in torch.float32 .* got one in torch.float64", partial(layer_of(name, torch.float32), tokens.float())),
    ]
    for message, call in refused:
        with pytest.raises((TypeError, ValueError), match=message):
            call(cache=cache)
        assert len(cache) == 10 and torch.equal(cache.state, state)
    with pytest.raises(TypeError, match="cache must come from the layer's own cache.., got a KVCache"):
        layer(tokens, cache=KVCache())
    with pytest.raises(ValueError, match="n_heads must divide d_model = 24, got 5"):
        LAYERS[name](24, 5)
