"""What every efficient mechanism owes: shapes, masks, causality, gradients, clear errors."""

import pytest
import torch

from attention_course import MultiHeadAttention, causal_mask, padding_mask
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention

D_HEAD = 8


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def layout(n_blocks=40):
    return bigbird_layout(n_blocks, n_random=2, generator=seeded())


MECHANISMS = {
    "linear": lambda causal: LinearAttention(causal=causal),
    "performer": lambda causal: PerformerAttention(D_HEAD, 32, causal=causal, generator=seeded()),
    "window": lambda causal: LongformerAttention(5, n_global=2, causal=causal),
    "BigBird": lambda causal: BlockSparseAttention(layout(), 8, causal=causal),
    # All rounds hash alike, so that a changed token cannot move the others by moving the draw.
    "LSH": lambda causal: LSHAttention(16, 2, causal=causal, generator=seeded()),
}
CAUSAL_TOO = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
EVERY = pytest.mark.parametrize("name", MECHANISMS)


def inputs(n_tokens, name="linear"):
    query, key, value = torch.randn(3, 2, 3, n_tokens, D_HEAD, generator=seeded(), dtype=torch.float64)
    return (query, query if name == "LSH" else key, value)


def mechanism(name, causal=False):
    torch.manual_seed(0)
    return MECHANISMS[name](causal).double()


@EVERY
@CAUSAL_TOO
@pytest.mark.parametrize("n_tokens", [1, 7, 64, 65, 300])
@torch.no_grad()
def test_any_length_gives_its_own_shape_and_finite_numbers(name, causal, n_tokens):
    output, weights = mechanism(name, causal)(*inputs(n_tokens, name))
    assert output.shape == (2, 3, n_tokens, D_HEAD) and weights is None
    assert output.isfinite().all()


@EVERY
@CAUSAL_TOO
@torch.no_grad()
def test_values_that_are_all_one_come_out_as_one(name, causal):
    query, key, value = inputs(130, name)
    output, _ = mechanism(name, causal)(query, key, torch.ones_like(value))
    torch.testing.assert_close(output, torch.ones_like(output))


@EVERY
@CAUSAL_TOO
@torch.no_grad()
def test_what_the_mask_hides_has_no_say(name, causal):
    query, key, value = inputs(130, name)
    mask = padding_mask(torch.tensor([130, 100]))
    other = torch.where(mask.transpose(-2, -1), value, 100.0)
    before, after = (mechanism(name, causal)(query, key, given, mask)[0] for given in (value, other))
    torch.testing.assert_close(before, after)
    assert before.abs().max() < 10


@EVERY
@torch.no_grad()
def test_the_future_does_not_reach_the_past(name):
    query, key, value = inputs(200, name)
    later = value.clone()
    later[..., 150:, :] += 5
    before, after = (mechanism(name, causal=True)(query, key, given)[0] for given in (value, later))
    torch.testing.assert_close(before[..., :150, :], after[..., :150, :])
    assert not torch.allclose(before[..., 150:, :], after[..., 150:, :])


@EVERY
@CAUSAL_TOO
def test_gradients(name, causal):
    query, key, value = (tokens[:1, :1, :9, :].clone().requires_grad_() for tokens in inputs(9, name))
    attention = MECHANISMS[name](causal).double()

    def attend(query, value, key=None):
        if isinstance(attention, LSHAttention):
            attention.generator.manual_seed(0)
            return attention(query, query, value)[0]
        return attention(query, key, value)[0]

    given = (query, value) if name == "LSH" else (query, value, key)
    assert torch.autograd.gradcheck(attend, given)


@EVERY
@CAUSAL_TOO
@torch.no_grad()
def test_half_precision_stays_close(name, causal):
    exact, _ = mechanism(name, causal)(*inputs(100, name))
    half, _ = MECHANISMS[name](causal).bfloat16()(*(tokens.bfloat16() for tokens in inputs(100, name)))
    assert half.dtype == torch.bfloat16
    if name != "LSH":  # rounding moves tokens between buckets
        assert (half.double() - exact).norm() < 0.05 * exact.norm()


@EVERY
@torch.no_grad()
def test_it_plugs_into_the_layer(name):
    layer = MultiHeadAttention(24, 3, attention=MECHANISMS[name](False))
    if name == "LSH":
        layer.key_proj = layer.query_proj
    output, weights = layer(torch.randn(2, 50, 24, generator=seeded()), mask=padding_mask(torch.tensor([50, 20])))
    assert output.shape == (2, 50, 24) and weights is None


@EVERY
def test_what_it_cannot_do_is_refused(name):
    attention, (query, key, value) = mechanism(name), inputs(10, name)
    with pytest.raises(ValueError, match="need_weights must be False"):
        attention(query, key, value, need_weights=True)
    with pytest.raises(ValueError, match="dropout must be 0, got 0.1"):
        attention(query, key, value, dropout=0.1)
    with pytest.raises(ValueError, match="mask must be the same for all queries"):
        attention(query, key, value, causal_mask(10))
    with pytest.raises(TypeError, match="boolean"):
        attention(query, key, value, torch.zeros(1, 10))
    with pytest.raises(ValueError, match="batch, heads, tokens, d_head"):
        attention(query[0], key[0], value[0])


@pytest.mark.parametrize("name", ["linear", "performer", "window", "BigBird", "LSH"])
def test_a_causal_layer_needs_keys_of_the_same_tokens(name):
    query, key, value = inputs(10, name)
    with pytest.raises(ValueError, match="as many tokens as query, 7, got 10"):
        mechanism(name, causal=True)(query[..., :7, :], key, value)


def test_linformer_refuses_what_its_matrices_do_not_reach():
    query, key, value = inputs(10)
    attention = LinformerAttention(8, 4).double()
    with pytest.raises(ValueError, match="at most max_keys = 8 tokens, got 10"):
        attention(query, key, value)
