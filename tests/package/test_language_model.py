import pytest
import torch
from torch import nn

from attention_course import causal_mask, sliding_window_mask, training
from attention_course.cache import KVCache
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.matrix_state import StateCache
from attention_course.efficient.sinks import SinkAttention, SinkCache
from attention_course.efficient.top_k import TopKAttention, TopKCache
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import ALiBiAttention, LearnedPositions, RotaryAttention, ShawAttention
from attention_course.transformer import Block

VARIANTS = {
    "no positions": {},
    "learned": {"positions": LearnedPositions(40, 16)},
    "RoPE": {"attention": RotaryAttention()},
    "ALiBi": {"attention": ALiBiAttention()},
    "Shaw, grouped": {"attention": ShawAttention(4, 3), "n_kv_heads": 2},
    "gated delta rule": {"attention": GatedDeltaNet(16, 4)},
    "window with sinks": {"attention": SinkAttention(16, 4, 3, n_sinks=2)},
    "top-k": {"attention": TopKAttention(16, 4, 3)},
}


def language_model(variant="RoPE"):
    torch.manual_seed(0)
    return CausalLanguageModel(11, 16, 4, 2, **VARIANTS[variant]).eval()


def symbols(*shape, seed=0):
    return torch.randint(11, shape, generator=torch.Generator().manual_seed(seed))


def copy_weights(block: Block, layer: nn.TransformerEncoderLayer):
    attention = block.attention
    projections = (attention.query_proj, attention.key_proj, attention.value_proj)
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
        layer.self_attn.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    layer.self_attn.out_proj.load_state_dict(attention.out_proj.state_dict())
    layer.norm1.load_state_dict(block.attention_norm.state_dict())
    layer.norm2.load_state_dict(block.feed_forward_norm.state_dict())
    layer.linear1.load_state_dict(block.feed_forward[0].state_dict())
    layer.linear2.load_state_dict(block.feed_forward[2].state_dict())


@torch.no_grad()
def test_the_model_equals_one_made_of_pytorchs_layers():
    model = language_model("no positions")
    layers = []
    for block in model.blocks:
        layers.append(nn.TransformerEncoderLayer(16, 4, 64, 0.0, "gelu", batch_first=True, norm_first=True))
        copy_weights(block, layers[-1])
    source = symbols(3, 7)
    tokens = model.embedding(source)
    for layer in layers:
        tokens = layer(tokens, src_mask=~causal_mask(7))
    expected = model.logits(model.norm(tokens))
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
    assert [len(cache) for cache in caches] == [9, 9]


@pytest.mark.parametrize(
    ("attention", "kind"),
    [
        (None, KVCache),
        (LatentAttention(16, 4, 8), KVCache),
        (GatedDeltaNet(16, 4), StateCache),
        (SinkAttention(16, 4, 3), SinkCache),
        (TopKAttention(16, 4, 3), TopKCache),
    ],
)
def test_each_block_is_given_the_cache_that_its_attention_keeps(attention, kind):
    model = CausalLanguageModel(11, 16, 4, 2, attention=attention)
    caches = model.new_caches()
    assert [type(cache) for cache in caches] == [kind, kind]
    assert caches[0] is not caches[1]


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_generation_with_and_without_the_cache_is_the_same_and_follows_the_model(variant):
    model, prompt = language_model(variant), symbols(2, 3)
    greedy = model.generate(prompt, 12, temperature=0)
    assert torch.equal(greedy[:, :3], prompt)
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
def test_another_mask_takes_the_place_of_the_causal_one():
    model, source = language_model(), symbols(2, 6)
    assert torch.equal(model(source, causal_mask(6))[0], model(source)[0])
    _, weights = model(source, sliding_window_mask(6, 1), need_weights=True)
    assert len(weights) == 2 and weights[0].shape == (2, 4, 6, 6)
    assert all(w.masked_select(~sliding_window_mask(6, 1)).eq(0).all() for w in weights)


def test_blocks_do_not_share_a_mechanisms_parameters():
    model = language_model("Shaw, grouped")
    first, second = (block.attention.attention.embedding.weight for block in model.blocks)
    assert first is not second


def test_it_learns():
    model = language_model()
    generator = torch.Generator().manual_seed(0)

    def next_batch():  # counting upwards from a random number
        return (torch.randint(11, (32, 1), generator=generator) + torch.arange(9)) % 11

    def loss(model, batch):
        return nn.functional.cross_entropy(model(batch[:, :-1])[0].flatten(0, 1), batch[:, 1:].flatten())

    history = training.train(model, next_batch, loss, steps=100, peak_lr=2e-2, every=20)
    assert history[-1]["loss"] < 0.5 < 2 < history[0]["loss"]
    assert model.generate(torch.tensor([[3]]), 5, temperature=0).tolist() == [[3, 4, 5, 6, 7, 8]]


NAN = float("nan")


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("prompt must have shape", lambda: language_model().generate(torch.zeros(1, 0, dtype=torch.long), 3)),
        (
            "temperature must be 0 or more, got nan",
            lambda: language_model().generate(symbols(1, 2), 3, temperature=NAN),
        ),
        (
            "n_tokens must be a whole number, 0 or more, got -3",
            lambda: language_model().generate(symbols(1, 2), -3),
        ),
        ("temperature must be 0 or more", lambda: language_model().generate(symbols(1, 2), 3, temperature=-1)),
    ],
)
def test_bad_input_is_named(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_tokens_may_be_asked_for():
    prompt = symbols(1, 2)
    assert torch.equal(language_model().generate(prompt, 0), prompt)


@torch.no_grad()
def test_a_model_of_one_block_counts_its_positions_with_a_cache():
    torch.manual_seed(0)
    model, source = CausalLanguageModel(11, 16, 4, 1, positions=LearnedPositions(40, 16)).eval(), symbols(2, 9)
    caches = model.new_caches()
    parts = [model(part, caches=caches)[0] for part in source.split(4, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), model(source)[0])
