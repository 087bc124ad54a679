import cmath
import math

import pytest
import torch
from refusing import refuses

from attention_course.positions import (
    ALiBiAttention,
    LearnedPositions,
    RotaryAttention,
    ShawAttention,
    SinusoidalPositions,
    alibi_slopes,
    rotate,
    sinusoidal_encoding,
)

MECHANISMS = {
    "Shaw": lambda: ShawAttention(4, max_distance=3),
    "RoPE": RotaryAttention,
    "RoPE, base 50": lambda: RotaryAttention(base=50.0),
    "ALiBi": ALiBiAttention,
}


def random_tokens(n_queries=5, n_keys=5, dtype=torch.float32):
    torch.manual_seed(0)
    sizes = (n_queries, n_keys, n_keys)
    return [torch.randn(2, 2, size, 4, dtype=dtype) for size in sizes]  # (batch, heads, tokens, d_head)


# --- codes added to the tokens ------------------------------------------------------------------


@pytest.mark.parametrize(("options", "base"), [({"base": 100.0}, 100), ({}, 10_000)])
def test_the_sinusoidal_code_is_the_papers_formula_and_is_added(options, base):
    angles = [[t / base ** (2 * i / 6) for i in range(3)] for t in range(50)]
    expected = [[turn(angle) for angle in row for turn in (math.sin, math.cos)] for row in angles]
    expected = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(sinusoidal_encoding(50, 6, **options), expected.float(), atol=1e-5, rtol=0)
    tokens = torch.randn(2, 40, 6, dtype=torch.float64)  # coded with all their digits
    added = SinusoidalPositions(6, **options)(tokens, start=10) - tokens
    torch.testing.assert_close(added, expected[10:].expand_as(added), atol=1e-12, rtol=0)


@pytest.mark.parametrize("default", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_angles_do_not_hang_on_the_default_dtype(default):
    """At position 3,000 an angle in half precision would be off by whole turns."""
    tokens, position = torch.randn(1, 2, 3, 4), torch.tensor([0, 5, 3_000])
    before = sinusoidal_encoding(3_001, 4), rotate(tokens, position), alibi_slopes(6)
    torch.set_default_dtype(default)
    try:
        after = sinusoidal_encoding(3_001, 4), rotate(tokens, position), alibi_slopes(6)
    finally:
        torch.set_default_dtype(torch.float32)
    for expected, found in zip(before, after, strict=True):
        assert found.dtype == torch.float32 and torch.equal(found, expected)


def test_shaws_scores_do_not_overflow_before_they_are_scaled():
    """Query times vector is 120,000 here, above the largest float16, and 7,500 once it is scaled."""
    attention = ShawAttention(256, max_distance=1).half()
    with torch.no_grad():
        attention.embedding.weight.fill_(0).select(0, 1).fill_(4)
    query, key = torch.full((1, 1, 3, 256), 120.0).half(), torch.zeros(1, 1, 3, 256).half()
    _, weights = attention(query, key, key, need_weights=True)
    assert torch.equal(weights[0, 0], torch.eye(3).half())


@pytest.mark.parametrize("positions", [SinusoidalPositions(8), LearnedPositions(12, 8)])
def test_codes_depend_on_the_place_in_the_sequence_not_in_the_batch(positions):
    tokens = torch.zeros(3, 7, 8)
    codes = positions(tokens)
    assert torch.equal(codes[0], codes[2])
    assert codes[0].unique(dim=0).shape == (7, 8)
    torch.testing.assert_close(positions(tokens[:, 4:], start=4), codes[:, 4:])
    assert SinusoidalPositions(8)(tokens.bfloat16()).dtype == torch.bfloat16


def test_sinusoidal_codes_know_no_end_and_learned_ones_do():
    assert SinusoidalPositions(4)(torch.zeros(1, 10_000, 4)).isfinite().all()
    learned = LearnedPositions(12, 8)
    torch.testing.assert_close(learned(torch.ones(1, 3, 8), start=9)[0], 1 + learned.embedding.weight[9:])
    with pytest.raises(ValueError, match="within max_positions = 12, got 13"):
        learned(torch.zeros(1, 3, 8), start=10)


# --- mechanisms that know distances ---------------------------------------------------------------


def test_rotation_is_multiplication_by_a_complex_number():
    torch.manual_seed(0)
    tokens, position = torch.randn(3, 6, dtype=torch.float64), torch.tensor([0, 5, 700])
    rotated = rotate(tokens, position, base=50.0)
    for n in range(3):
        for i in range(3):
            number = complex(*tokens[n, 2 * i : 2 * i + 2]) * cmath.exp(1j * position[n].item() * 50 ** (-2 * i / 6))
            assert rotated[n, 2 * i].item() == pytest.approx(number.real, abs=1e-12)
            assert rotated[n, 2 * i + 1].item() == pytest.approx(number.imag, abs=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rotation_in_half_precision_turns_in_single(dtype):
    torch.manual_seed(0)
    tokens, position = torch.randn(3, 6).to(dtype), torch.tensor([0, 5, 700])
    rotated = rotate(tokens, position)
    assert rotated.dtype == dtype
    assert torch.equal(rotated, rotate(tokens.float(), position, base=10_000.0).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_rotation_takes_any_layout_of_memory(dtype):
    torch.manual_seed(0)
    position, memory = torch.arange(5), torch.randn(2, 7, 11).to(dtype)
    odd_offset, expanded = memory[:, 1:6, 1:7], memory[:, :1, :6].expand(2, 5, 6)
    for view in (odd_offset, memory.mT[:, :5, :6], memory[:, :5, ::2], expanded):
        tokens = view.clone(memory_format=torch.contiguous_format)
        assert torch.equal(rotate(view, position), rotate(tokens, position))


def score_loop(name, mechanism, query, key):
    """Scores of one head in Python floats, straight from the papers' formulas; head 0 of 2."""
    offset, bases = len(key) - len(query), {"RoPE": 10_000, "RoPE, base 50": 50}
    scores = torch.zeros(len(query), len(key), dtype=torch.float64)
    for i in range(len(query)):
        for j in range(len(key)):
            distance = j - (i + offset)
            q, k = query[i], key[j]
            if name in bases:
                turn = [cmath.exp(1j * distance * bases[name] ** (-2 * pair / 4)) for pair in range(2)]
                pairs = zip(torch.view_as_complex(q.view(2, 2)), torch.view_as_complex(k.view(2, 2)), turn, strict=True)
                scores[i, j] = sum((a.conj() * b * t).real.item() for a, b, t in pairs) / 2
            elif name == "Shaw":
                row = max(-3, min(3, distance)) + 3
                scores[i, j] = q @ (k + mechanism.embedding.weight[row].double()) / 2
            else:
                scores[i, j] = q @ k / 2 - 2**-4 * abs(distance)
    return scores


@torch.no_grad()
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("n_queries", [5, 2])
def test_weights_are_the_softmax_of_the_papers_scores(name, n_queries):
    mechanism = MECHANISMS[name]().double()
    query, key, value = random_tokens(n_queries, dtype=torch.float64)
    _, weights = mechanism(query, key, value, need_weights=True)
    expected = score_loop(name, mechanism, query[1, 0], key[1, 0]).softmax(-1)
    torch.testing.assert_close(weights[1, 0], expected, atol=1e-12, rtol=0)
    assert mechanism(query, key, value)[1] is None


def test_shaws_vectors_start_as_small_as_a_projection_and_are_one_a_distance():
    torch.manual_seed(0)
    vectors = ShawAttention(64, max_distance=500).embedding.weight
    assert vectors.shape == (1001, 64)
    assert vectors.std().item() == pytest.approx(64**-0.5, rel=0.02)


@torch.no_grad()
@pytest.mark.parametrize("name", MECHANISMS)
def test_dropout_leaves_out_weights_and_scales_up_the_others(name):
    query, key, _ = random_tokens()
    identity = torch.eye(5).expand(2, 2, 5, 5)  # as values, so that the output is the weights behind dropout
    output, weights = MECHANISMS[name]()(query, key, identity, dropout=0.5, need_weights=True)
    kept = output > 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(output, 2 * weights * kept)


def test_slopes_are_the_papers():
    assert alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(16).tolist() == pytest.approx([2 ** (-i / 2) for i in range(1, 17)])


THREE_DIMS = torch.randn(3, 2, 5, 4)  # a batch of 2 would be taken for 2 heads


test_bad_input_is_named = refuses(
    ("d_model must be even", lambda: sinusoidal_encoding(3, 5)),
    ("d_head must be even", lambda: rotate(torch.ones(3, 5), torch.arange(3))),
    ("query must have shape .batch, heads, tokens, d_head., got .2, 5, 4", lambda: ALiBiAttention()(*THREE_DIMS)),
    ("key must hold at least", lambda: RotaryAttention()(*random_tokens(5, 3))),
)
