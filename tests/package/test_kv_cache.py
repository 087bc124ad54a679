"""The cache of keys and values; and of every layer with a cache that a refused call leaves it as it was."""

import pytest
import torch

from attention_course import KVCache, MultiHeadAttention
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import FlashAttention
from attention_course.efficient.flex import FlexAttention
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.kv_cache import undone_on_error
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import ALiBiAttention, RotaryAttention, ShawAttention

LAYERS = {
    "multi-head": lambda: MultiHeadAttention(16, 4, 2),
    "flash": lambda: MultiHeadAttention(16, 4, 2, attention=FlashAttention()),
    "chunked": lambda: MultiHeadAttention(16, 4, attention=chunked_attention),
    "flex": lambda: MultiHeadAttention(16, 4, attention=FlexAttention()),
    "RoPE": lambda: MultiHeadAttention(16, 4, attention=RotaryAttention()),
    "ALiBi": lambda: MultiHeadAttention(16, 4, attention=ALiBiAttention()),
    "Shaw": lambda: MultiHeadAttention(16, 4, attention=ShawAttention(4, 3)),
    "latent": lambda: LatentAttention(16, 4, 6, d_rotary=2),
    "top-k": lambda: TopKAttention(16, 4, 3),
    "sinks": lambda: SinkAttention(16, 4, 2, n_sinks=2),
    "retention": lambda: MultiScaleRetention(16, 4),
    "gated linear": lambda: GatedLinearAttention(16, 4),
    "gated delta": lambda: GatedDeltaNet(16, 4),
}
EVERY = pytest.mark.parametrize("name", LAYERS)


def tokens_of(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_it_holds_what_was_added_whatever_the_sizes():
    cache, key, value = KVCache(), tokens_of(2, 3, 50, 4), tokens_of(2, 3, 50, 5, seed=1)
    assert len(cache) == 0 and cache.key is None and cache.value is None and cache.nbytes == 0
    start = 0
    for size in (1, 1, 7, 0, 30, 11):
        end = start + size
        held = cache.append(key[:, :, start:end], value[:, :, start:end])
        assert len(cache) == end
        assert cache.nbytes == 2 * 3 * end * (4 + 5) * 4  # batch, heads, tokens, widths, bytes: not the room for more
        for got, of_cache, whole in zip(held, (cache.key, cache.value), (key, value), strict=True):
            assert torch.equal(got, whole[:, :, :end]) and torch.equal(of_cache, got)
        start = end


def test_a_token_moves_no_earlier_one_while_there_is_room():
    cache = KVCache()
    cache.append(tokens_of(1, 1, 4, 2), tokens_of(1, 1, 4, 2))
    place = cache.key.data_ptr()
    cache.append(tokens_of(1, 1, 4, 2), tokens_of(1, 1, 4, 2))
    assert cache.key.data_ptr() == place
    cache.append(tokens_of(1, 1, 1, 2), tokens_of(1, 1, 1, 2))
    assert cache.key.data_ptr() != place


HELD = {"key": tokens_of(2, 3, 5, 4), "value": tokens_of(2, 3, 5, 6)}


@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (ValueError, r"must be as many, got \(2, 3, 5, 4\) and \(2, 3, 4, 6\)", {"value": HELD["value"][:, :, :4]}),
        (ValueError, r"key must have the cache's shape \(2, 3, tokens, 4\), got \(2, 1, 5, 4\)",
         {"key": HELD["key"][:, :1], "value": HELD["value"][:, :1]}),
        (ValueError, r"key must have the cache's shape .* got \(2, 3, 5, 3\)", {"key": HELD["key"][..., :3]}),
        (ValueError, r"value must have the cache's shape \(2, 3, tokens, 6\)", {"value": HELD["value"][..., :3]}),
        (TypeError, "key must have the cache's dtype and device, torch.float32 on cpu, got torch.float64 on cpu",
         {"key": HELD["key"].double()}),
        (TypeError, "key must have .* device, torch.float32 on cpu, got torch.float32 on meta",
         {"key": HELD["key"].to("meta")}),
    ],
)  # fmt: skip
def test_tokens_of_another_kind_are_refused_and_leave_it_alone(error, message, change):
    cache = KVCache()
    cache.append(**HELD)
    with pytest.raises(error, match=message):
        cache.append(**HELD | change)
    assert len(cache) == 5
    assert torch.equal(cache.key, HELD["key"]) and torch.equal(cache.value, HELD["value"])


def test_what_was_added_before_an_error_is_forgotten_in_all_of_them():
    caches = [KVCache(), KVCache(), None]
    caches[0].append(**HELD)

    def add_and_fail():
        with undone_on_error(*caches):
            for cache in caches[:2]:
                for _ in range(3):  # so that it has to grow
                    cache.append(**HELD)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_and_fail()
    assert [len(cache) for cache in caches[:2]] == [5, 0] and caches[1].key is None
    assert torch.equal(caches[0].key, HELD["key"]) and torch.equal(caches[0].value, HELD["value"])
    with undone_on_error(*caches):
        caches[1].append(**HELD)
    assert len(caches[1]) == 5


MASK = torch.ones(3, 4, dtype=torch.bool)  # three queries, but 5 + 3 keys
BAD_CALLS = {
    "batch": (ValueError, lambda tokens: {"query": tokens[:1]}),
    "width": (ValueError, lambda tokens: {"query": tokens[..., :15]}),
    "dtype of the layer": ((TypeError, RuntimeError), lambda tokens: {"query": tokens.double()}),
    "dtype of the cache": (TypeError, lambda tokens: {"query": tokens.double()}),
    "float mask": (TypeError, lambda tokens: {"query": tokens, "mask": torch.ones(3, 8)}),
    "mask of too few keys": (ValueError, lambda tokens: {"query": tokens, "mask": torch.ones(2, 1, 1, 7).bool()}),
    "mask and causal": (ValueError, lambda tokens: {"query": tokens, "mask": MASK, "causal": True}),
}


@EVERY
@pytest.mark.parametrize("case", BAD_CALLS)
@torch.no_grad()
def test_a_refused_call_leaves_the_layers_cache_as_it_was(name, case):
    layer, newest = LAYERS[name](), tokens_of(2, 3, 16, seed=1)
    cache, undisturbed = layer.cache(), layer.cache()
    for each in (cache, undisturbed):
        layer(tokens_of(2, 5, 16), causal=True, cache=each)
    error, options = BAD_CALLS[case]
    with pytest.raises(error):
        (layer.double() if case == "dtype of the cache" else layer)(**options(newest), cache=cache)
    assert len(cache) == 5
    assert torch.equal(*(layer.float()(newest, causal=True, cache=each)[0] for each in (cache, undisturbed)))


@torch.no_grad()
def test_values_of_another_length_are_refused():
    layer, cache = MultiHeadAttention(16, 4), KVCache()
    with pytest.raises(ValueError, match="same n_keys, got 3 and 2"):
        layer(tokens_of(2, 1, 16), tokens_of(2, 3, 16), tokens_of(2, 2, 16), cache=cache)
    assert len(cache) == 0


@pytest.mark.parametrize("layer", [None, *LAYERS])
@torch.no_grad()
def test_an_error_in_a_later_block_undoes_the_earlier_ones(layer, monkeypatch):
    model = CausalLanguageModel(11, 16, 4, 3, attention=layer and LAYERS[layer]()).eval()
    symbols = torch.randint(11, (2, 8), generator=torch.Generator().manual_seed(0))
    expected, caches = model(symbols)[0], model.new_caches()
    model(symbols[:, :5], caches=caches)

    def fail(*args):
        raise RuntimeError("no memory left")

    with monkeypatch.context() as patch:
        patch.setattr(model.blocks[1].feed_forward, "forward", fail)
        with pytest.raises(RuntimeError, match="no memory left"):
            model(symbols[:, 5:], caches=caches)
    assert [len(cache) for cache in caches] == [5, 5, 5]
    torch.testing.assert_close(model(symbols[:, 5:], caches=caches)[0], expected[:, 5:], atol=1e-5, rtol=1e-5)


def test_a_model_wants_a_cache_for_each_block():
    model = CausalLanguageModel(11, 16, 4, 2)
    for n_caches in (0, 1, 3):
        caches = [KVCache() for _ in range(n_caches)]
        with pytest.raises(ValueError, match=f"one for each of 2 blocks, got {n_caches}"):
            model(torch.zeros(1, 3, dtype=torch.long), caches=caches)
        assert all(len(cache) == 0 for cache in caches)


@EVERY
@torch.no_grad()
def test_selected_rows_go_on_as_if_they_had_been_read_themselves(name):
    layer, tokens, rows = LAYERS[name](), tokens_of(3, 9, 16), torch.tensor([2, 0, 0, 1])
    cache = layer.cache()
    with pytest.raises(ValueError, match="must hold tokens before rows are selected"):
        cache.select(rows)
    layer(tokens[:, :5], causal=True, cache=cache)
    with pytest.raises(IndexError):
        cache.select(torch.tensor([0, 3]))
    cache.select(rows)
    newest, _ = layer(tokens[rows, 5:], causal=True, cache=cache)
    whole, _ = layer(tokens, causal=True)
    torch.testing.assert_close(newest, whole[rows, 5:], atol=1e-5, rtol=1e-5)


@EVERY
def test_a_cache_filled_in_inference_mode_goes_on_outside(name):
    layer, tokens = LAYERS[name](), tokens_of(2, 9, 16)
    cache = layer.cache()
    with torch.inference_mode():
        layer(tokens[:, :5], causal=True, cache=cache)
    parts = []
    for mode in (torch.no_grad, torch.inference_mode, torch.no_grad, torch.no_grad):
        with mode():
            parts.append(layer(tokens[:, 5 + len(parts) : 6 + len(parts)], causal=True, cache=cache)[0])
    whole, _ = layer(tokens, causal=True)
    torch.testing.assert_close(torch.cat(parts, 1), whole[:, 5:].detach(), atol=1e-5, rtol=1e-5)
