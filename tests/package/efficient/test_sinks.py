"""A window with sinks: the band, and a cache of what the next token may see."""

from contextlib import nullcontext

import pytest
import torch

from attention_course import KVCache, padding_mask
from attention_course.efficient.sinks import SinkAttention

D_MODEL, N_HEADS, WINDOW, N_SINKS = 24, 3, 6, 2
LEFT_PADDED = padding_mask(torch.tensor([50, 46, 20])).flip(-1)


def sink_layer(dtype=torch.float64, window=WINDOW, n_sinks=N_SINKS):
    torch.manual_seed(0)
    return SinkAttention(D_MODEL, N_HEADS, window, n_sinks=n_sinks).to(dtype)


def tokens_of(n, batch=3, dtype=torch.float64):
    return torch.randn(batch, n, D_MODEL, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


def decoded(layer, tokens, sizes, mask=None):
    """Outputs when the tokens come in pieces, and the cache that they leave."""
    cache, outputs = layer.cache(), []
    for part in tokens.split(sizes, dim=1):
        seen = None if mask is None else mask[..., : len(cache) + part.size(1)]
        outputs.append(layer(part, mask=seen, cache=cache)[0])
    return torch.cat(outputs, dim=1), cache


@pytest.mark.parametrize("n_sinks", [0, 1, 4])
@torch.no_grad()
def test_a_token_sees_the_window_and_the_sinks(n_sinks):
    layer, tokens = sink_layer(n_sinks=n_sinks), tokens_of(30)
    q, k, v = (
        (tokens @ each.weight.T).unflatten(-1, (N_HEADS, -1))
        for each in (layer.query_proj, layer.key_proj, layer.value_proj)
    )
    output, _ = layer(tokens)
    for i in range(30):
        kept = [j for j in range(i + 1) if j < n_sinks or j >= i - WINDOW]
        scores = torch.einsum("bhd,bjhd->bhj", q[:, i], k[:, kept]) / 8**0.5
        blend = torch.einsum("bhj,bjhd->bhd", scores.softmax(-1), v[:, kept])
        torch.testing.assert_close(output[:, i], layer.out_proj(blend.flatten(1)))


@pytest.mark.parametrize("sizes", [1, 2, 7, 30, 50, [1, 5, 2, 3, 39]])
@pytest.mark.parametrize("mask", [None, LEFT_PADDED, LEFT_PADDED[1]], ids=["all seen", "padded", "one mask for all"])
@torch.no_grad()
def test_pieces_are_the_whole(sizes, mask):
    layer, tokens = sink_layer(), tokens_of(50)
    output, cache = decoded(layer, tokens, sizes, mask)
    torch.testing.assert_close(output, layer(tokens, mask=mask)[0])
    assert len(cache) == 50


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 2e-6), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
@pytest.mark.parametrize("autocast", [False, True])
@torch.no_grad()
def test_pieces_are_the_whole_in_half_precision_and_under_autocast(dtype, error, autocast):
    if autocast and dtype == torch.float32:
        pytest.skip("nothing to cast to")
    given = torch.float32 if autocast else dtype
    layer, tokens = sink_layer(given), tokens_of(50, dtype=given)
    expected = sink_layer()(tokens.double())[0]
    with torch.autocast("cpu", dtype) if autocast else nullcontext():
        output, _ = decoded(layer, tokens, [20, *[1] * 30])
    assert output.dtype == dtype
    assert (output - expected).norm() < error * expected.norm()


@torch.no_grad()
def test_the_cache_holds_the_first_tokens_and_the_newest_and_does_not_grow():
    layer, tokens, nbytes = sink_layer(), tokens_of(4096, batch=1), {}
    cache = layer.cache()
    assert len(cache) == 0 and cache.nbytes == 0
    for n, part in enumerate(tokens.split(1, dim=1), start=1):
        layer(part, cache=cache)
        memory = sum(each.untyped_storage().nbytes() for each in (cache.key, cache.value))
        nbytes[n] = cache.nbytes, memory
    assert len(cache) == 4096
    assert nbytes[64] == nbytes[4096] == (2 * (N_SINKS + WINDOW) * D_MODEL * 8,) * 2
    kept = torch.cat([tokens[:, :N_SINKS], tokens[:, -WINDOW:]], dim=1)
    for held, projection in ((cache.key, layer.key_proj), (cache.value, layer.value_proj)):
        torch.testing.assert_close(held.transpose(1, 2).flatten(2), projection(kept))


@torch.no_grad()
def test_hidden_tokens_change_nothing_later():
    layer, tokens = sink_layer(torch.float32), tokens_of(50, dtype=torch.float32)
    changed = torch.where(LEFT_PADDED[:, 0].transpose(-2, -1), tokens, 1e36 * tokens.sign())
    for sizes in (1, 7):
        outputs = [decoded(layer, each, sizes, LEFT_PADDED)[0] for each in (tokens, changed)]
        for row, first in enumerate((0, 4, 30)):
            assert torch.equal(outputs[0][row, first:], outputs[1][row, first:])


@torch.no_grad()
def test_a_refused_call_leaves_the_cache_as_it_was():
    layer, tokens = sink_layer(), tokens_of(20)
    (_, cache), (_, undisturbed) = (decoded(layer, tokens[:, :15], 1) for _ in range(2))
    refused = [
        {"mask": torch.zeros(1, 16)},
        {"mask": torch.ones(3, 1, 1, 15, dtype=torch.bool)},
        {"mask": torch.ones(3, 1, 1, N_SINKS + WINDOW + 1, dtype=torch.bool)},
        {"need_weights": True},
    ]
    for given in refused:
        with pytest.raises((TypeError, ValueError), match="mask|need_weights"):
            layer(tokens[:, 15:16], cache=cache, **given)
    with pytest.raises(ValueError, match="mask must be the same for all queries"):
        layer(tokens[:, 15:], mask=torch.ones(5, 20, dtype=torch.bool), cache=cache)
    with pytest.raises(TypeError, match="key must have the cache's dtype"):
        layer.float()(tokens[:, 15:].float(), cache=cache)
    assert len(cache) == 15
    layer.double()
    outputs = [layer(tokens[:, 15:], cache=each)[0] for each in (cache, undisturbed)]
    assert torch.equal(*outputs)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "n_heads must divide d_model = 24, got 5", lambda: SinkAttention(24, 5, 8)),
        (ValueError, "window must be a whole number, 1 or more, got 0", lambda: SinkAttention(24, 3, 0)),
        (ValueError, "n_sinks must be a whole number, 0 or more, got -1", lambda: SinkAttention(24, 3, 4, n_sinks=-1)),
        (ValueError, "need_weights must be False", lambda: sink_layer()(tokens_of(3), need_weights=True)),
        (ValueError, "as many tokens as query, 3, got 4", lambda: sink_layer()(tokens_of(3), tokens_of(4))),
        (ValueError, "value came without key", lambda: sink_layer()(tokens_of(3), value=tokens_of(3))),
        (TypeError, r"this layer's cache\(\), SinkCache\(window=6, n_sinks=2\), got .*KVCache",
         lambda: sink_layer()(tokens_of(3), cache=KVCache())),
        (TypeError, r"got SinkCache\(window=5, n_sinks=2\)",
         lambda: sink_layer()(tokens_of(3), cache=sink_layer(window=5).cache())),
    ],
)  # fmt: skip
def test_bad_input_is_named(error, message, call):
    with pytest.raises(error, match=message):
        call()
