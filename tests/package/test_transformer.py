import pytest
import torch
from pytorch_layers import as_pytorchs
from torch import nn

from attention_course import causal_mask, padding_mask
from attention_course.positions import ShawAttention
from attention_course.transformer import Block, Decoder, DecoderBlock, Encoder

NORM_ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def scramble(module: nn.Module) -> nn.Module:
    """Draw every parameter at random, so that no gain of 1 or bias of 0 hides a mistake."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return module.eval()


@NORM_ORDERS
def test_an_encoder_equals_pytorchs_forward_and_backward(norm_first):
    encoder = scramble(Encoder(16, 4, 3, norm_first=norm_first))
    mask = padding_mask(torch.tensor([7, 4, 1]))
    tokens = randn(3, 7, 16).requires_grad_()
    output, weights = encoder(tokens, mask, need_weights=True)
    assert [w.shape for w in weights] == [(3, 4, 7, 7)] * 3

    expected = tokens
    for block in encoder.blocks:
        expected = as_pytorchs(block)(expected, src_key_padding_mask=~mask[:, 0, 0])
    expected = encoder.norm(expected)
    real = mask[:, 0, 0]  # what padded positions hold is nobody's business
    torch.testing.assert_close(output[real], expected[real], atol=1e-5, rtol=1e-5)
    probe = randn(3, 7, 16, seed=2) * real.unsqueeze(-1)
    ours, theirs = (torch.autograd.grad((out * probe).sum(), tokens)[0] for out in (output, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@NORM_ORDERS
def test_a_decoder_equals_pytorchs_forward_and_backward(norm_first):
    decoder = scramble(Decoder(16, 4, 2, norm_first=norm_first))
    mask, memory_mask = causal_mask(5), padding_mask(torch.tensor([7, 4, 1]))
    tokens, memory = randn(3, 5, 16).requires_grad_(), randn(3, 7, 16, seed=3).requires_grad_()
    output, weights = decoder(tokens, memory, mask, memory_mask, need_weights=True)
    assert [(own.shape, cross.shape) for own, cross in weights] == [((3, 4, 5, 5), (3, 4, 5, 7))] * 2

    expected = tokens
    for block in decoder.blocks:
        expected = as_pytorchs(block)(expected, memory, tgt_mask=~mask, memory_key_padding_mask=~memory_mask[:, 0, 0])
    expected = decoder.norm(expected)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    probe = randn(3, 5, 16, seed=2)
    for wanted in (tokens, memory):
        ours, theirs = (
            torch.autograd.grad((out * probe).sum(), wanted, retain_graph=True)[0] for out in (output, expected)
        )
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@NORM_ORDERS
@torch.no_grad()
def test_asking_for_weights_changes_no_output(norm_first):
    decoder = scramble(Decoder(16, 4, 2, norm_first=norm_first))
    tokens, memory = randn(2, 5, 16), randn(2, 3, 16, seed=1)
    with_weights, weights = decoder(tokens, memory, causal_mask(5), need_weights=True)
    without, nothing = decoder(tokens, memory, causal_mask(5))
    torch.testing.assert_close(with_weights, without, atol=1e-5, rtol=0)
    assert nothing is None
    for own, cross in weights:
        torch.testing.assert_close(own.sum(-1), torch.ones(2, 4, 5))
        torch.testing.assert_close(cross.sum(-1), torch.ones(2, 4, 5))


@torch.no_grad()
def test_stacks_end_with_a_norm_only_where_blocks_begin_with_one():
    tokens = randn(2, 5, 16) * 9
    for norm_first, kind in ((True, nn.LayerNorm), (False, nn.Identity)):
        stack = Encoder(16, 4, 2, norm_first=norm_first)
        assert isinstance(stack.norm, kind) and isinstance(Decoder(16, 4, 2, norm_first=norm_first).norm, kind)
        output, weights = stack(tokens)
        assert weights is None
        torch.testing.assert_close(output.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0)


def test_dropout_acts_on_what_layers_add_and_only_in_training():
    torch.manual_seed(0)
    block, tokens = Block(16, 4, dropout=0.5), randn(64, 5, 16)
    assert torch.equal(block.eval()(tokens)[0], block(tokens)[0])
    block.train()
    for layer in (block.attention.out_proj, block.feed_forward[2]):  # what is added is exactly 1 everywhere
        nn.init.zeros_(layer.weight)
        nn.init.ones_(layer.bias)
    added = (block(tokens)[0] - tokens).round(decimals=3)
    shares = {number: (added == number).float().mean().item() for number in (0.0, 2.0, 4.0)}
    assert shares == pytest.approx({0.0: 0.25, 2.0: 0.5, 4.0: 0.25}, abs=0.03)


@pytest.mark.parametrize("block", [Block, DecoderBlock])
def test_a_block_drops_as_much_as_it_is_told_and_nothing_by_default(block):
    assert (block(16, 4).dropout.p, block(16, 4, dropout=0.3).dropout.p) == (0, 0.3)
    with pytest.raises(ValueError, match=r"dropout must .*got 1.5"):
        block(16, 4, dropout=1.5)


@pytest.mark.parametrize("stack", [Encoder, Decoder])
def test_each_block_gets_its_own_copy_of_a_mechanism(stack):
    blocks = stack(16, 4, 2, attention=ShawAttention(4, 3)).blocks
    assert all(isinstance(block.attention.attention, ShawAttention) for block in blocks)
    assert blocks[0].attention.attention is not blocks[1].attention.attention
