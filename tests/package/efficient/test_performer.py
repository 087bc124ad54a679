import pytest
import torch
from seeding import seeded

from attention_course import causal_mask, scaled_dot_product_attention
from attention_course.efficient.performer import PerformerAttention, orthogonal_gaussian


def inputs(n_tokens, scale=0.5, d_head=16):
    query, key, value = torch.randn(3, 1, 2, n_tokens, d_head, generator=seeded(), dtype=torch.float64)
    return scale * query, scale * key, value


def performer(n_features, seed, *, causal=False, d_head=16):
    return PerformerAttention(d_head, n_features, causal=causal, generator=seeded(seed)).double()


@torch.no_grad()
def test_directions_are_at_right_angles_and_of_normal_length():
    directions = orthogonal_gaussian(64, 16, seeded()).double()
    for block in directions.split(16):
        angles = torch.nn.functional.normalize(block, dim=-1)
        torch.testing.assert_close(angles @ angles.T, torch.eye(16, dtype=torch.float64), atol=1e-5, rtol=0)
    many = torch.cat([orthogonal_gaussian(16, 16, seeded(seed)) for seed in range(400)])
    assert many.square().sum(1).mean().item() == pytest.approx(16, rel=0.03)  # a chi-squared variable's mean
    assert many.mean().abs() < 0.02 and orthogonal_gaussian(5, 16, seeded()).shape == (5, 16)


@torch.no_grad()
def test_products_of_features_estimate_the_exponential_without_bias():
    query, key, _ = (tokens[0, 0, :6] for tokens in inputs(6))
    target = (query @ key.T / 16**0.5).exp()
    draws = torch.stack(
        [
            (attention.log_features(query).exp() @ attention.log_features(key).exp().T) / 16
            for attention in (performer(16, seed) for seed in range(2000))
        ]
    )
    standard_error = draws.std(0) / len(draws) ** 0.5
    assert ((draws.mean(0) - target).abs() < 4.5 * standard_error).all()  # 36 of them
    assert (standard_error < 0.1 * target).all()  # so that a bias would show


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@torch.no_grad()
def test_the_error_falls_with_the_root_of_the_features(causal):
    query, key, value = inputs(300)
    exact, _ = scaled_dot_product_attention(query, key, value, causal_mask(300) if causal else None)
    errors = []
    for n_features in (256, 1024, 4096):
        runs = [performer(n_features, seed, causal=causal)(query, key, value)[0] for seed in range(5)]
        errors.append(torch.stack([(run - exact).norm() / exact.norm() for run in runs]).mean())
    slope = (errors[-1] / errors[0]).log() / torch.tensor(4096 / 256).log()
    assert -0.6 < slope < -0.35
    assert errors[-1] < 0.1


def by_logarithms(attention, query, key, value, seen):
    """The definition in logarithms, which neither overflow nor vanish."""
    sums = attention.log_features(query).unsqueeze(-2) + attention.log_features(key).unsqueeze(-3)
    return sums.logsumexp(-1).masked_fill(~seen, -torch.inf).softmax(-1) @ value


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("scale", [3.0, 8.0])
@torch.no_grad()
def test_long_keys_do_not_vanish(causal, scale):
    """At scale 8 the exponentials are of the order of 1e-100, which float32 does not have."""
    query, key, value = inputs(300, scale)
    seen = causal_mask(300) if causal else torch.ones(300, 300, dtype=torch.bool)
    attention = performer(64, 0, causal=causal)
    expected = by_logarithms(attention, query, key, value, seen)
    output, _ = attention(query.float(), key.float(), value.float())
    assert (output - expected).norm() < 1e-5 * expected.norm()


@pytest.mark.parametrize("scale", [0.0, 1e-3, 15.0, 1e18])
@torch.no_grad()
def test_later_keys_leave_earlier_outputs_alone(scale):
    """The largest of what is visible is taken out of the exponents, not that of a whole chunk."""
    query, key, value = (tokens.float() for tokens in inputs(300, scale=6.0))
    later = key.clone()
    later[..., 150:, :] *= scale
    attention = performer(64, 0, causal=True).float()
    before, after = (attention(query, given, value)[0] for given in (key, later))
    assert torch.equal(before[..., :150, :], after[..., :150, :])
    assert not torch.allclose(before[..., 150:, :], after[..., 150:, :])


def test_redrawing_changes_the_directions_in_place():
    attention = PerformerAttention(16, 32, generator=seeded(0))
    before = attention.directions.clone()
    attention.redraw(seeded(1))
    assert not torch.equal(before, attention.directions)
    assert torch.equal(attention.directions, PerformerAttention(16, 32, generator=seeded(1)).directions)


def test_another_width_and_features_in_parts_are_refused():
    with pytest.raises(ValueError, match="query must have d_head = 16, got 8"):
        performer(32, 0)(*inputs(10, d_head=8))
    with pytest.raises(ValueError, match="n_features must be a whole number, 1 or more, got 2.5"):
        PerformerAttention(16, 2.5)
