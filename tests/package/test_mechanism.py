"""What a layer and a model ask of the attention that is plugged into them."""

from functools import partial

import pytest
import torch
from choosing import weekly
from refusing import refuses
from seeding import seeded

from attention_course import Mechanism, MultiHeadAttention, causal_mask, padding_mask, scaled_dot_product_attention
from attention_course.efficient.flash import FlashAttention, flash_attention
from attention_course.efficient.flex import FlexAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import AttentionLayer, FunctionMechanism, as_mechanism
from attention_course.positions import ShawAttention
from attention_course.transformer import Block, Decoder, DecoderBlock, Encoder


class MeanOfSeen(Mechanism):
    """Weights every key alike; says what it is called with."""

    def __init__(self, causal=False):
        super().__init__()
        self.causal = causal

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        self.seen_mask, self.n_heads = mask, key.size(1)
        return value.mean(-2, keepdim=True).expand_as(query), None


def test_the_layer_hides_the_future_from_a_mechanism_that_does_not_itself():
    tokens, padding = torch.randn(2, 5, 8, generator=seeded()), padding_mask(torch.tensor([5, 3]))
    for attention, mask, expected in (
        (MeanOfSeen(), None, causal_mask(5)),
        (MeanOfSeen(), padding, causal_mask(5) & padding),
        (MeanOfSeen(causal=True), None, None),
        (MeanOfSeen(causal=True), padding, padding),
    ):
        MultiHeadAttention(8, 2, attention=attention)(tokens, mask=mask, causal=True)
        assert (attention.seen_mask is None) == (expected is None)
        assert expected is None or torch.equal(attention.seen_mask, expected)


def test_a_mechanism_sees_as_many_key_heads_as_query_heads():
    attention = MeanOfSeen()
    MultiHeadAttention(8, 4, 2, attention=attention)(torch.randn(2, 5, 8, generator=seeded()))
    assert attention.n_heads == 4


def test_keys_that_are_queries_share_their_projection():
    attention = MeanOfSeen()
    attention.shared_query_key = True
    layer = MultiHeadAttention(8, 4, attention=attention)
    assert layer.key_proj is layer.query_proj
    with pytest.raises(ValueError, match="n_kv_heads must be n_heads = 4 where keys are queries, got 2"):
        MultiHeadAttention(8, 4, 2, attention=attention)


def test_a_function_becomes_a_mechanism_that_says_its_name():
    function = as_mechanism(flash_attention)
    assert isinstance(function, FunctionMechanism) and repr(function) == "FunctionMechanism(flash_attention)"
    assert function.caches and not function.causal and not function.shared_query_key
    assert as_mechanism(function) is function


def test_a_function_made_causal_is_refused_with_the_reason():
    for model in (MultiHeadAttention, Block):
        with pytest.raises(ValueError, match=r"a model could not know .* give a Mechanism, such as FlashAttention"):
            model(8, 2, attention=partial(flash_attention, causal=True))
    assert MultiHeadAttention(8, 2, attention=partial(flash_attention, causal=False))


@pytest.mark.parametrize("attention", ["flash", 3, FlashAttention, LatentAttention(8, 2, 4, d_rotary=2)])
def test_what_plugs_into_no_layer_is_refused(attention):
    with pytest.raises(TypeError, match="attention must be a Mechanism or a function, not a class or a whole layer"):
        MultiHeadAttention(8, 2, attention=attention)


def test_layers_share_no_module_that_they_are_given():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(()))

        def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
            return scaled_dot_product_attention(query * self.scale, key, value, mask)

    given = Scaled()
    for blocks in (CausalLanguageModel(5, 8, 2, 2, attention=given).blocks, Encoder(8, 2, 2, attention=given).blocks):
        scales = [block.attention.attention.function.scale for block in blocks]
        assert len({id(scale) for scale in (*scales, given.scale)}) == 3
    compiled = torch.compile(ShawAttention(4, 3), backend="eager")
    blocks = Encoder(8, 2, 2, attention=compiled).blocks
    assert blocks[0].attention.attention.function is not blocks[1].attention.attention.function
    assert Encoder(8, 2, 2, attention=compiled)(torch.zeros(1, 3, 8))[0].shape == (1, 3, 8)


# --- whole layers in a block ------------------------------------------------------------------------


TWO = torch.ones(2, 5, 24)
LAYERS = {
    "latent": lambda: LatentAttention(24, 3, 12, d_rotary=4),
    "multi-head": lambda: MultiHeadAttention(24, 3, 1, bias=False),
    "top-k": lambda: TopKAttention(24, 3, 4),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_block_takes_a_layer_as_it_is(name):
    torch.manual_seed(0)
    layer, tokens = LAYERS[name](), torch.randn(2, 5, 24, generator=seeded())
    assert isinstance(layer, AttentionLayer)
    block = Block(24, 3, attention=layer)
    assert block.attention is layer
    normal = block.attention_norm(tokens)
    expected = tokens + layer(normal, causal=True)[0]
    expected = expected + block.feed_forward(block.feed_forward_norm(expected))
    torch.testing.assert_close(block(tokens, causal=True)[0], expected)
    assert DecoderBlock(24, 3, attention=layer).attention is layer


@pytest.mark.parametrize("name", LAYERS)
def test_stacks_and_models_give_each_block_a_layer_with_weights_of_its_own(name):
    torch.manual_seed(0)
    layer = LAYERS[name]()
    for model in (Encoder(24, 3, 2, attention=layer), Decoder(24, 3, 2, attention=layer),
                  CausalLanguageModel(11, 24, 3, 2, attention=layer)):  # fmt: skip
        own = [block.attention for block in model.blocks]
        assert all(type(each) is type(layer) and each is not layer for each in own)
        for parts in zip(*(each.parameters() for each in (layer, *own)), strict=True):
            assert parts[0].shape == parts[1].shape
            assert not torch.equal(parts[0], parts[1]) and not torch.equal(parts[1], parts[2])
            bound = parts[0].abs().max().item()
            assert 0.5 * bound < parts[1].abs().max().item() < 2 * bound  # drawn like the first


test_a_layer_that_does_not_fit_is_refused = refuses(
    ("d_model = 16 and n_heads = 3, .* got 24, 3 and None", lambda: Block(16, 3, attention=LAYERS["latent"]())),
    ("d_model = 24 and n_heads = 2, .* got 24, 3 and None", lambda: Block(24, 2, attention=LAYERS["latent"]())),
    ("n_kv_heads left out, got 24, 3 and 1", lambda: Block(24, 3, 1, attention=LAYERS["multi-head"]())),
    ("n_heads must divide d_model = 24, got 0", lambda: AttentionLayer(24, 0)),
    ("the same batch size, got 2, 1 and 1", lambda: AttentionLayer(24, 3).complete(TWO, TWO[:1], None)),
)


COMPILED = {
    "dot product": lambda: None,
    "flash": FlashAttention,
    "flex": lambda: FlexAttention(causal=True),
    "latent": lambda: LatentAttention(16, 2, 6, d_rotary=2),
}


@pytest.mark.skipif(torch.__version__.startswith("2.5."), reason="PyTorch 2.5 compiles no context manager")
@pytest.mark.filterwarnings("ignore")  # of the compiler about itself
@pytest.mark.parametrize("name", ["dot product", weekly("flash"), weekly("flex"), "latent"])
def test_a_language_model_compiles_as_one_graph(name):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = CausalLanguageModel(11, 16, 2, 1, attention=COMPILED[name]())
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for n_tokens in (9, 13):  # the second time sizes are symbols
        symbols = torch.randint(11, (2, n_tokens), generator=seeded())
        outputs = [each(symbols)[0] for each in (compiled, model)]
        torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
        gradients = (torch.autograd.grad(each.square().sum(), model.parameters()) for each in outputs)
        for mine, its in zip(*gradients, strict=True):
            torch.testing.assert_close(mine, its, atol=1e-4, rtol=1e-4)


# --- flash as a mechanism ------------------------------------------------------------------------------


@pytest.mark.parametrize("of_the_call", [False, True])
def test_flash_makes_no_mask_for_the_future(monkeypatch, of_the_call):
    def refuse(*sizes, device):
        raise AssertionError("a mask was made")

    monkeypatch.setattr("attention_course.masks.causal_mask", refuse)
    layer = MultiHeadAttention(8, 2, attention=FlashAttention(causal=not of_the_call))
    layer(torch.randn(2, 5, 8, generator=seeded()), causal=of_the_call)
    with pytest.raises(AssertionError, match="a mask was made"):
        MultiHeadAttention(8, 2, attention=flash_attention)(torch.randn(2, 5, 8, generator=seeded()), causal=True)


@torch.no_grad()
def test_a_function_as_a_mechanism_gives_weights_if_they_are_asked_for():
    attention, tokens = as_mechanism(scaled_dot_product_attention), torch.randn(1, 2, 3, 4, generator=seeded())
    assert attention(tokens, tokens, tokens)[1] is None
    _, weights = attention(tokens, tokens, tokens, need_weights=True)
    torch.testing.assert_close(weights, (tokens @ tokens.mT / 2).softmax(-1))
