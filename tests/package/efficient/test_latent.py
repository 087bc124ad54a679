"""Latent attention: two forms of one function, and a cache of latents only."""

import pytest
import torch
from refusing import refuses

from attention_course import KVCache, causal_mask, padding_mask
from attention_course.efficient.latent import LatentAttention
from attention_course.positions import rotate

D_MODEL, N_HEADS, D_HEAD, D_LATENT = 24, 3, 8, 12
ROTARY = pytest.mark.parametrize("d_rotary", [0, 4])


def latent_layer(d_rotary=0, d_latent=D_LATENT):
    torch.manual_seed(0)
    return LatentAttention(D_MODEL, N_HEADS, d_latent, d_rotary=d_rotary).double()


def tokens_of(n, seed=0):
    return torch.randn(2, n, D_MODEL, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def heads_of(layer, queries, keys):
    """The heads' queries, and the latents, as the two forms take them."""
    q = layer.query_proj(queries).unflatten(-1, (N_HEADS, -1)).transpose(1, 2)
    return q, layer.down_proj(keys).unsqueeze(1)


@ROTARY
@pytest.mark.parametrize("n_queries", [1, 5, 40])
def test_both_forms_are_equal_forward_and_backward(d_rotary, n_queries):
    layer, queries, keys = latent_layer(d_rotary), tokens_of(n_queries), tokens_of(40, seed=1)
    mask, results = causal_mask(n_queries, 40) & padding_mask(torch.tensor([40, 30])), []
    parts = (layer.query_proj, layer.down_proj, layer.key_up, layer.value_up)
    for form in (layer.expanded, layer.absorbed):
        heads, weights = form(*heads_of(layer, queries, keys), mask, need_weights=True)
        gradients = torch.autograd.grad(heads.square().sum(), [part.weight for part in parts])
        fused, none = form(*heads_of(layer, queries, keys), mask)
        assert none is None
        results.append([heads, weights, fused, *gradients])
    for expanded, absorbed in zip(*results, strict=True):
        torch.testing.assert_close(expanded, absorbed)


@torch.no_grad()
def test_rotary_scores_are_the_papers_formula():
    layer, tokens = latent_layer(d_rotary=4), tokens_of(6)
    _, weights = layer(tokens, need_weights=True)
    latent, shared = layer.down_proj(tokens).split([D_LATENT, 4], dim=-1)
    for head in range(N_HEADS):
        rows = slice(head * (D_HEAD + 4), (head + 1) * (D_HEAD + 4))
        query, rotary = (tokens @ layer.query_proj.weight[rows].T).split([D_HEAD, 4], dim=-1)
        key = latent @ layer.key_up.weight[head * D_HEAD : (head + 1) * D_HEAD].T
        for i in range(6):
            scores = [
                query[:, i] * key[:, j] @ torch.ones(D_HEAD).double()
                + (rotate(rotary[:, i, None], torch.tensor([i])) * rotate(shared[:, j, None], torch.tensor([j]))).sum(
                    (1, 2)
                )
                for j in range(6)
            ]
            expected = (torch.stack(scores, -1) / 12**0.5).softmax(-1)
            torch.testing.assert_close(weights[:, head, i], expected)


@ROTARY
@torch.no_grad()
@pytest.mark.parametrize("chunk", [1, 4, 30])
def test_cached_equals_uncached_and_holds_latents_only(d_rotary, chunk):
    layer, tokens = latent_layer(d_rotary), tokens_of(50)
    expected, _ = layer(tokens, mask=causal_mask(50))
    cache, outputs = KVCache(), []
    for part in tokens.split(chunk, dim=1):
        mask = causal_mask(part.size(1), len(cache) + part.size(1))
        outputs.append(layer(part, mask=mask, cache=cache)[0])
    torch.testing.assert_close(torch.cat(outputs, 1), expected)
    assert len(cache) == 50
    held = sum(each.numel() * each.element_size() for each in (cache.key, cache.value))
    assert held == 2 * 50 * (D_LATENT + d_rotary) * 8  # sequences, tokens, numbers a token, bytes


@pytest.mark.parametrize(("d_model", "n_heads", "d_latent", "d_rotary"), [(21, 3, 5, 2), (15, 5, 7, 4), (9, 1, 1, 6)])
@pytest.mark.parametrize("n_tokens", [1, 9])
def test_odd_widths(d_model, n_heads, d_latent, d_rotary, n_tokens):
    torch.manual_seed(0)
    layer = LatentAttention(d_model, n_heads, d_latent, d_rotary=d_rotary).double()
    tokens = torch.randn(2, n_tokens, d_model, dtype=torch.float64)
    q = layer._turned(layer.query_proj(tokens).unflatten(-1, (n_heads, -1)).transpose(1, 2), 0)
    latents = layer._turned(layer.down_proj(tokens).unsqueeze(1), 0)
    forms = [form(q, latents, causal=True)[0] for form in (layer.expanded, layer.absorbed)]
    torch.testing.assert_close(*forms)
    torch.testing.assert_close(layer(tokens, causal=True)[0], layer.out_proj(forms[0].transpose(1, 2).flatten(-2)))


@ROTARY
@pytest.mark.parametrize("n_queries", [1, 5, 30, 40])
def test_causal_is_the_causal_mask(d_rotary, n_queries):
    layer, queries, keys = latent_layer(d_rotary), tokens_of(n_queries), tokens_of(40, seed=1)
    padding = padding_mask(torch.tensor([40, 30]))
    for given, mask in ((None, causal_mask(n_queries, 40)), (padding, causal_mask(n_queries, 40) & padding)):
        for need_weights in (True, False):
            got = layer(queries, keys, mask=given, causal=True, need_weights=need_weights)
            expected = layer(queries, keys, mask=mask, need_weights=need_weights)
            torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("n_queries", [2, 30])  # absorbed, expanded
def test_hidden_tokens_may_be_large(n_queries):
    layer, queries, keys = latent_layer(), tokens_of(n_queries), tokens_of(40, seed=1)
    mask, huge = padding_mask(torch.tensor([40, 30])), keys.clone()
    huge[1, 30:] = 1e300 * keys[1, 30:].sign()
    results = []
    for given in (keys, huge):
        given = given.requires_grad_()
        output, _ = layer(queries, given, mask=mask)
        results.append([output, *torch.autograd.grad(output.square().sum(), [given, *layer.parameters()])])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    assert results[1][1][1, 30:].eq(0).all()


def test_the_form_is_the_one_that_multiplies_less(monkeypatch):
    layer, called = latent_layer(), []
    for name in ("expanded", "absorbed"):
        form = getattr(layer, name)
        monkeypatch.setattr(
            layer, name, lambda *args, name=name, form=form, **kw: called.append(name) or form(*args, **kw)
        )
    for n_queries in (1, 24, 25):  # 24 = 12 * 8 / (12 - 8)
        layer(tokens_of(n_queries))
    assert called == ["absorbed", "absorbed", "expanded"]


SHORT_KEYS = tokens_of(3), tokens_of(4)[..., :20]


test_bad_input_is_named = refuses(
    ("n_heads must divide d_model = 24, got 5", lambda: LatentAttention(24, 5, 8)),
    ("d_latent must be 1 or more", lambda: LatentAttention(24, 3, 0)),
    ("d_rotary even, 0 or more, got 8 and 3", lambda: LatentAttention(24, 3, 8, d_rotary=3)),
    ("key must have shape .batch, tokens, 24., got .2, 4, 20", lambda: latent_layer()(*SHORT_KEYS)),
    ("same batch size, got 2, 1 and 1", lambda: latent_layer()(tokens_of(3), tokens_of(4)[:1])),
    ("value came without key", lambda: latent_layer()(tokens_of(3), None, tokens_of(3))),
    ("value must be left out", lambda: latent_layer()(tokens_of(3), tokens_of(4), tokens_of(4, seed=1))),
)
