"""Layers and models under torch.autocast: tokens come in half precision from projections whose weights are float32.

What each mechanism makes there of float32 tokens is in test_contract.py and test_hidden.py.
"""

from copy import deepcopy

import pytest
import torch
from choosing import every_third
from contract import AUTOCAST, relative_error
from mechanisms import BFLOAT16, CASES, D_HEAD, FLOAT16, N_HEADS
from seeding import seeded
from torch import nn

from attention_course import MultiHeadAttention, causal_mask
from attention_course.efficient.block_sparse import BlockSparseAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import Mechanism
from attention_course.positions import RotaryAttention, ShawAttention
from attention_course.support.autocast import in_float32, result_dtype

D_MODEL = N_HEADS * D_HEAD
ERRORS = {BFLOAT16: 0.05, FLOAT16: 0.006}  # of outputs and gradients, relative to their size
HALF = pytest.mark.parametrize("dtype", [each.autocast for each in AUTOCAST], ids=str)
PLUGGED_IN = [name for name, case in CASES.items() if "ring" not in name and isinstance(case.make(), Mechanism)]


def assert_as_in_float64(run, model, dtype):
    """What `run` makes of the model, and the gradient of all its parameters at once."""
    exact = deepcopy(model).double()
    with torch.autocast("cpu", dtype):
        output = run(model)
    expected = run(exact)
    assert output.dtype == dtype
    assert relative_error(output, expected) < ERRORS[dtype]
    probe = torch.randn(expected.shape, generator=seeded(1)).sign()
    results = []
    for each, result in ((model, output), (exact, expected)):
        gradients = torch.autograd.grad(result, each.parameters(), probe.to(result.dtype), materialize_grads=True)
        results.append(torch.cat([gradient.flatten() for gradient in gradients]))
    assert relative_error(*results) < ERRORS[dtype]


def symbols(*shape):
    return torch.randint(11, shape, generator=seeded(2))


@HALF
@pytest.mark.parametrize("name", PLUGGED_IN)
def test_every_mechanism_in_a_layer(name, dtype):
    torch.manual_seed(0)
    layer = MultiHeadAttention(D_MODEL, N_HEADS, attention=CASES[name].make())
    tokens = torch.randn(2, 12, D_MODEL, generator=seeded())  # few enough for hashing to put them into one bucket
    assert_as_in_float64(lambda model: model(tokens.to(model.out_proj.weight.dtype))[0], layer, dtype)


MODELS = {
    "multi-head": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2),
    "grouped": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2, n_kv_heads=1),
    "rotary": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2, attention=RotaryAttention()),
    "relative": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2, attention=ShawAttention(D_HEAD, 5)),
    "latent": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2, attention=LatentAttention(16, 2, 12, d_rotary=4)),
    "linear": lambda: CausalLanguageModel(11, D_MODEL, N_HEADS, 2, attention=LinearAttention(causal=True)),
}


@HALF
@pytest.mark.parametrize("name", MODELS)
def test_a_language_model_and_its_gradients(name, dtype):
    torch.manual_seed(0)
    assert_as_in_float64(lambda model: model(symbols(2, 40))[0], MODELS[name](), dtype)


@HALF
def test_a_translator_and_its_gradients(dtype):
    torch.manual_seed(0)
    source, target = symbols(2, 9), symbols(2, 7)
    source[1, 6:] = 0
    assert_as_in_float64(lambda model: model(source, target)[0], EncoderDecoder(11, D_MODEL, 2, 2, pad=0), dtype)


@HALF
@pytest.mark.parametrize("name", [name for name in MODELS if name != "linear"])
@torch.no_grad()
def test_caches_hold_half_precision_and_give_what_the_whole_gives(name, dtype):
    torch.manual_seed(0)
    model = MODELS[name]()
    expected, _ = deepcopy(model).double()(symbols(2, 9))
    caches = model.new_caches()
    with torch.autocast("cpu", dtype):
        parts = [model(part, caches=caches)[0] for part in symbols(2, 9).split([4, 3, 1, 1], dim=1)]
        assert model.generate(symbols(2, 3), 4).shape == (2, 7)
    assert caches[0].key.dtype == dtype and len(caches[0]) == 9
    assert relative_error(torch.cat(parts, dim=1), expected) < ERRORS[dtype]


@HALF
@pytest.mark.parametrize("n_tokens", [1024, 4096])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@torch.no_grad()
def test_sums_over_wide_heads_do_not_overflow(causal, n_tokens, dtype):
    """Of 64 features they are beyond the largest number of float16."""
    query, key, value = torch.randn(3, 1, 1, n_tokens, 64, generator=seeded())
    attention = LinearAttention(causal=causal)
    features = attention.feature_map(key)
    assert attention.feature_map(query).mul(features.sum(-2, keepdim=True)).sum(-1).max() > torch.finfo(FLOAT16).max
    expected, _ = attention(query.double(), key.double(), value.double())
    with torch.autocast("cpu", dtype):
        output, _ = attention(query, key, value)
    assert relative_error(output, expected) < CASES["linear"].autocast[dtype][0]


@HALF
def test_a_feature_map_may_learn(dtype):
    torch.manual_seed(0)
    features = nn.Sequential(nn.Linear(D_HEAD, 12), nn.Softplus())
    layer = MultiHeadAttention(D_MODEL, N_HEADS, attention=LinearAttention(feature_map=features))
    tokens = torch.randn(2, 30, D_MODEL, generator=seeded())
    assert_as_in_float64(lambda model: model(tokens.to(model.out_proj.weight.dtype))[0], layer, dtype)


@pytest.mark.skipif(torch.__version__.startswith("2.5."), reason="PyTorch 2.5 compiles no context manager")
@pytest.mark.filterwarnings("ignore")  # of the compiler about itself
@pytest.mark.parametrize("name", every_third(MODELS))
def test_a_compiled_model_computes_the_same(name):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = MODELS[name]()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", BFLOAT16):
        outputs = [each(symbols(2, 9))[0] for each in (compiled, model)]
    torch.testing.assert_close(*outputs, atol=0, rtol=0)


@HALF
def test_blocks_that_see_nothing_are_in_half_precision_too(dtype):
    tokens = torch.randn(3, 1, 2, 8, D_HEAD, generator=seeded())
    attention = BlockSparseAttention(torch.tensor([[True, True], [False, False]]), 4)
    with torch.autocast("cpu", dtype):
        output, _ = attention(*tokens)
    assert output.dtype == dtype and output[..., 4:, :].eq(0).all() and output[..., :4, :].ne(0).any()


def test_float64_stays_what_it_is():
    tokens = torch.randn(3, 1, 2, 5, 8, generator=seeded(), dtype=torch.float64)
    attention = PerformerAttention(8, 16, generator=seeded())
    expected, _ = attention(*tokens)
    with torch.autocast("cpu", FLOAT16):
        assert result_dtype(tokens) == torch.float64 and result_dtype(tokens.float()) == FLOAT16
        assert torch.equal(attention(*tokens)[0], expected)
    assert result_dtype(tokens.float()) == torch.float32


def test_shapes_may_be_asked_of_a_device_without_numbers():
    """The "meta" device, on which models are planned, knows no autocast."""
    tokens = torch.zeros(2, 7, 16, device="meta")
    with torch.device("meta"):
        for attention in (None, LinearAttention(causal=True), RotaryAttention()):
            layer = MultiHeadAttention(16, 4, attention=attention)
            assert layer(tokens, mask=None if attention else causal_mask(7))[0].shape == (2, 7, 16)
    assert result_dtype(tokens) == torch.float32


def test_arguments_may_come_by_name():
    seen = {}

    @in_float32
    def attention(query, key, value, mask=None):
        seen.update(query=query, key=key, mask=mask)
        return query @ key.mT, None

    tokens, mask = torch.randn(2, 5, 4, generator=seeded()).half(), causal_mask(5)
    with torch.autocast("cpu", FLOAT16):
        output, _ = attention(query=tokens, key=tokens, value=tokens, mask=mask)
    assert output.dtype == FLOAT16 and torch.equal(output, (tokens.float() @ tokens.float().mT).half())
    assert seen["query"].dtype == torch.float32 and seen["mask"] is mask
    attention(tokens, tokens, tokens)
    assert seen["key"] is tokens  # without autocast nothing is done
