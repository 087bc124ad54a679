"""Each mechanism inside the layer, the encoder and the causal language model."""

from functools import partial

import pytest
import torch
from seeding import seeded
from torch import nn

from attention_course import KVCache, MultiHeadAttention, padding_mask
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.transformer import Encoder

D_MODEL, N_HEADS, N_SYMBOLS = 16, 2, 11

BAND = {
    "window": lambda causal: LongformerAttention(3, n_global=2, causal=causal),
    "BigBird": lambda causal: BlockSparseAttention(bigbird_layout(9, generator=seeded()), 4, causal=causal),
}
EXACT = {"flash": lambda causal: flash_attention, "chunked": lambda causal: partial(chunked_attention, chunk_size=7)}
CAUSAL = BAND | {
    "linear": lambda causal: LinearAttention(causal=causal),
    "Performer": lambda causal: PerformerAttention(8, 32, causal=causal, generator=seeded()),
    # One bucket: what a token sees does not depend on the draw.
    "LSH": lambda causal: LSHAttention(64, 2, causal=causal, generator=seeded()),
}
ANY = CAUSAL | EXACT | {"Linformer": lambda causal: LinformerAttention(40, 8)}
every = pytest.mark.parametrize


def language_model(attention, n_layers=2):
    torch.manual_seed(0)
    return CausalLanguageModel(N_SYMBOLS, D_MODEL, N_HEADS, n_layers, attention=attention)


def symbols(*shape, seed=0):
    return torch.randint(N_SYMBOLS, shape, generator=seeded(seed))


def assert_same_model(ours, dense, call, call_dense):
    """Two models with the same weights give the same output and the same gradients."""
    # A layout is part of a model's state, but no weight.
    dense.load_state_dict({name: weight for name, weight in ours.state_dict().items() if "layout" not in name})
    outputs = call(ours)[0], call_dense(dense)[0]
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    probe = torch.randn(outputs[0].shape, generator=seeded(1))
    gradients = (
        torch.autograd.grad((output * probe).sum(), model.parameters())
        for output, model in zip(outputs, (ours, dense), strict=True)
    )
    for mine, its in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, its, atol=1e-4, rtol=1e-4)


@every("name", BAND | EXACT)
def test_a_language_model_equals_the_dense_one_under_the_same_mask(name):
    attention, source = ANY[name](True), symbols(2, 33)
    dense_mask = attention.dense_mask(33) if name in BAND else None
    assert name in EXACT or not torch.equal(dense_mask, torch.ones(33, 33).tril().bool())
    assert_same_model(
        language_model(attention), CausalLanguageModel(N_SYMBOLS, D_MODEL, N_HEADS, 2),
        lambda model: model(source), lambda model: model(source, dense_mask),
    )  # fmt: skip


@every("name", BAND | EXACT)
def test_an_encoder_with_padding_equals_the_dense_one(name):
    torch.manual_seed(0)
    attention, tokens, real = ANY[name](False), torch.randn(2, 33, D_MODEL), padding_mask(torch.tensor([33, 20]))
    mask = real & attention.dense_mask(33) if name in BAND else real
    assert_same_model(
        Encoder(D_MODEL, N_HEADS, 2, attention=attention), Encoder(D_MODEL, N_HEADS, 2),
        lambda model: model(tokens, real), lambda model: model(tokens, mask),
    )  # fmt: skip


@every("name", CAUSAL)
@torch.no_grad()
def test_a_language_model_hides_what_a_mask_hides(name):
    model, source = language_model(CAUSAL[name](True)), symbols(2, 33)
    changed = source.clone()
    changed[1, :3] = (changed[1, :3] + 1) % N_SYMBOLS
    real = padding_mask(torch.tensor([33, 30])).flip(-1)  # the second sequence's padding stands in front
    before, after = model(source, real)[0], model(changed, real)[0]
    torch.testing.assert_close(before[1, 3:], after[1, 3:])
    torch.testing.assert_close(before[0], model(source)[0][0])
    assert not torch.allclose(model(changed)[0][1, 3:], before[1, 3:])


@every("name", CAUSAL)
def test_caches_are_refused(name):
    model = language_model(CAUSAL[name](True))
    with pytest.raises(ValueError, match="use_cache=False.*works on whole sequences"):
        model.generate(symbols(1, 3), 2)
    with pytest.raises(ValueError, match="cache must be None"):
        model(symbols(1, 3), caches=model.new_caches())
    assert model.generate(symbols(1, 3), 2, use_cache=False).shape == (1, 5)


def test_a_layer_whose_slots_blend_the_whole_sequence_takes_no_cache():
    layer = MultiHeadAttention(D_MODEL, N_HEADS, attention=LinformerAttention(40, 8))
    with pytest.raises(ValueError, match="cache must be None.*LinformerAttention works on whole sequences"):
        layer(torch.zeros(1, 3, D_MODEL), cache=KVCache())


@every("name", sorted(CAUSAL | {"Linformer": None}))
def test_what_would_see_the_future_is_refused(name):
    with pytest.raises(ValueError, match="mask must be the same for all queries.*made with causal=True"):
        language_model(ANY[name](False))(symbols(1, 3))


@torch.no_grad()
def test_lsh_gets_one_projection_for_queries_and_keys():
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, N_HEADS, attention=LSHAttention(64, 1))
    assert layer.key_proj is layer.query_proj
    tokens = torch.randn(2, 9, D_MODEL)
    q, v = (proj(tokens).unflatten(-1, (N_HEADS, 8)).transpose(1, 2) for proj in (layer.query_proj, layer.value_proj))
    # One bucket holds all: the attention is dense, on keys of length 1, and a token keeps out of its own view.
    scores = q @ nn.functional.normalize(q, dim=-1).transpose(-2, -1) * 8**-0.5
    weights = scores.masked_fill(torch.eye(9, dtype=torch.bool), -torch.inf).softmax(-1)
    torch.testing.assert_close(layer(tokens)[0], layer.out_proj((weights @ v).transpose(1, 2).flatten(-2)))
    with pytest.raises(ValueError, match="key must be the query"):
        layer(tokens, torch.randn(2, 9, D_MODEL))
