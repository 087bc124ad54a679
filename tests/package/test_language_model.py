import pytest
import torch
from pytorch_layers import as_pytorchs

from attention_course import causal_mask, padding_mask, sliding_window_mask
from attention_course.efficient.flash import FlashAttention
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import ALiBiAttention, LearnedPositions, RotaryAttention, ShawAttention

VARIANTS = {
    "no positions": {},
    "learned": {"positions": LearnedPositions(40, 16)},
    "learned, one block": {"positions": LearnedPositions(40, 16), "n_layers": 1},
    "RoPE": {"attention": RotaryAttention()},
    "ALiBi": {"attention": ALiBiAttention()},
    "flash, grouped": {"attention": FlashAttention(), "n_kv_heads": 2},
    "Shaw, grouped": {"attention": ShawAttention(4, 3), "n_kv_heads": 2},
    "gated delta rule": {"attention": GatedDeltaNet(16, 4)},
    "window with sinks": {"attention": SinkAttention(16, 4, 3, n_sinks=2)},
    "top-k": {"attention": TopKAttention(16, 4, 3)},
    "latent": {"attention": LatentAttention(16, 4, 8, d_rotary=2)},
}


def language_model(variant="RoPE"):
    torch.manual_seed(0)
    return CausalLanguageModel(11, 16, 4, **{"n_layers": 2} | VARIANTS[variant]).eval()


def symbols(*shape, seed=0):
    return torch.randint(11, shape, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def test_the_model_equals_one_made_of_pytorchs_layers():
    model = language_model("no positions")
    source = symbols(3, 7)
    tokens = model.embedding(source)
    for block in model.blocks:
        tokens = as_pytorchs(block)(tokens, src_mask=~causal_mask(7))
    expected = model.lm_head(model.norm(tokens))
    torch.testing.assert_close(model(source)[0], expected, atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_future_does_not_reach_the_past(variant):
    model, source = language_model(variant), symbols(2, 9)
    changed = source.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 11
    before, after = model(source)[0], model(changed)[0]
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("chunk", [1, 4])
def test_cached_equals_uncached(variant, chunk):
    model, source = language_model(variant), symbols(2, 9)
    expected, _ = model(source)
    caches = model.new_caches()
    parts = [model(part, caches=caches)[0] for part in source.split(chunk, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), expected, atol=1e-5, rtol=0)
    assert [len(cache) for cache in caches] == [9] * len(model.blocks)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_generation_with_and_without_the_cache_is_the_same_and_follows_the_model(variant):
    model, prompt = language_model(variant), symbols(2, 3)
    greedy = model.generate(prompt, 12, temperature=0)
    assert torch.equal(greedy[:, :3], prompt) and torch.equal(model.generate(prompt, 0), prompt)
    assert torch.equal(model(greedy)[0][:, 2:-1].argmax(-1), greedy[:, 3:])
    for temperature in (0, 1.3):
        cached, uncached = (
            model.generate(prompt, 12, temperature=temperature, generator=torch.Generator().manual_seed(1), use_cache=u)
            for u in (True, False)
        )
        assert torch.equal(cached, uncached)


@torch.no_grad()
def test_symbols_are_drawn_from_the_models_distribution_at_the_temperature():
    model, prompt = language_model(), symbols(1, 3)
    drawn = model.generate(prompt.expand(20_000, -1), 1, temperature=0.5, generator=torch.Generator().manual_seed(0))
    share = torch.bincount(drawn[:, -1], minlength=11) / 20_000
    expected = (model(prompt)[0][0, -1] / 0.5).softmax(-1)
    assert (share - expected).abs().max() < 0.02  # five standard errors of a share of one half


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_lower_the_temperature_the_likelier_what_is_drawn(dtype):
    """Down to numbers that no logit can be divided by; in half precision several may be likeliest."""
    model, prompt = language_model().to(dtype), symbols(3, 3)
    for temperature in (1e-6, 1e-39, 1e-300):
        drawn = model.generate(prompt, 1, temperature=temperature)[:, -1:]
        logits = model(prompt)[0][:, -1]
        assert torch.equal(logits.gather(-1, drawn), logits.amax(-1, keepdim=True))


@torch.no_grad()
def test_large_logits_are_drawn_from_as_small_ones_are():
    """Divided by a low temperature, the largest would overflow."""
    model, prompt = language_model(), symbols(3, 3)
    model.lm_head.weight.mul_(1e20)
    drawn = model.generate(prompt, 1, temperature=1e-30)
    assert torch.equal(drawn[:, -1], model(prompt)[0][:, -1].argmax(-1))


@torch.no_grad()
def test_a_mask_hides_besides_the_future():
    """Padding in front, and windows; what is hidden or comes later changes nothing."""
    model, source = language_model(), symbols(2, 6)
    seen = padding_mask(torch.tensor([6, 4])).flip(-1)  # (2, 1, 1, 6)
    before = model(source, seen)[0]
    for changed, same in ((5, slice(2, 5)), (1, slice(2, 6))):
        other = source.clone()
        other[1, changed] = (other[1, changed] + 1) % 11
        assert torch.equal(model(other, seen)[0][1, same], before[1, same])
    _, weights = model(source, sliding_window_mask(6, 1), need_weights=True)
    assert len(weights) == 2 and weights[0].shape == (2, 4, 6, 6)
    near = sliding_window_mask(6, 1) & causal_mask(6)
    assert all(w.masked_select(~near).eq(0).all() and w.masked_select(near).gt(0).all() for w in weights)
    _, free = model(source, sliding_window_mask(6, 1), causal=False, need_weights=True)
    assert all(w.diagonal(1, -2, -1).gt(0).all() for w in free)


@pytest.mark.parametrize(
    ("message", "prompt", "n_tokens", "options"),
    [
        ("prompt must have shape", symbols(1, 0), 3, {}),
        ("n_tokens must be a whole number, 0 or more, got -3", symbols(1, 2), -3, {}),
        ("temperature must be 0 or more, got nan", symbols(1, 2), 3, {"temperature": float("nan")}),
        ("temperature must be 0 or more, got -1", symbols(1, 2), 3, {"temperature": -1}),
    ],
)
def test_bad_input_is_named(message, prompt, n_tokens, options):
    with pytest.raises(ValueError, match=message):
        language_model().generate(prompt, n_tokens, **options)
