"""Heads and paths patched, beside a model of two attention layers that is computed token by token, in plain loops."""

import math
from itertools import product

import pytest
import torch
from torch import nn

from attention_course import MultiHeadAttention
from attention_course.interpreting.circuits import attention_layers
from attention_course.interpreting.patching import READS, Patching
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

WIDTH, HEADS, N = 8, 4, 5


class AttentionOnly(nn.Module):
    """Two layers of attention in the stream; the heads of each share two pairs of keys and values."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(6, WIDTH)
        self.blocks = nn.ModuleList(MultiHeadAttention(WIDTH, HEADS, 2, bias=False) for _ in range(2))

    def forward(self, symbols):
        stream = self.embedding(symbols)
        for block in self.blocks:
            stream = stream + block(stream, causal=True)[0]
        return stream[:, -1].sum(-1)


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = AttentionOnly().double()
    for block in model.blocks:
        block.query_proj.weight.data *= 4  # else all tokens are looked at alike, and no query or key matters
    return model


@pytest.fixture
def inputs():
    return torch.tensor([[0, 1, 2, 3, 0], [4, 2, 1, 5, 4]]), torch.tensor([[5, 1, 2, 3, 1], [4, 2, 0, 5, 4]])


def patching(model, inputs):
    return Patching(model, attention_layers(model), *inputs)


def rows(weight, group):
    return weight[2 * group : 2 * group + 2]


def blend(layer, head, for_query, for_key, for_value):
    """What a head says at each place, from what its query, its key and its value read: lists of vectors."""
    said = []
    for place in range(N):
        query = rows(layer.query_proj.weight, head) @ for_query[place]
        scores = [(query @ (rows(layer.key_proj.weight, head // 2) @ for_key[at])).item() for at in range(place + 1)]
        shares = [math.exp(score / math.sqrt(2)) for score in scores]
        values = [rows(layer.value_proj.weight, head // 2) @ for_value[at] for at in range(place + 1)]
        said.append(sum(share * value for share, value in zip(shares, values, strict=True)) / sum(shares))
    return said


def add(layer, stream, said):
    """The stream behind a layer whose heads say this."""
    return [
        stream[at] + sum(layer.out_proj.weight[:, 2 * head : 2 * head + 2] @ said[head][at] for head in range(HEADS))
        for at in range(N)
    ]


def run(model, row, first=None, second=None):
    """The answer to a row of symbols and what both layers' heads say, where `first` and `second` may change it."""
    stream, kept = list(model.embedding.weight[row]), []
    for layer, change in zip(model.blocks, (first, second), strict=True):
        said = [blend(layer, head, stream, stream, stream) for head in range(HEADS)]
        said = change(said, stream) if change else said
        kept.append(said)
        stream = add(layer, stream, said)
    return stream[-1].sum(), kept


@torch.no_grad()
def test_a_head_at_a_place_says_what_it_said_in_the_clean_run(model, inputs):
    patched = patching(model, inputs)
    for (number, head), place in product(product(range(2), range(HEADS)), (1, N - 1, None)):
        expected = []
        for clean, corrupted in zip(*inputs, strict=True):
            of_clean = run(model, clean)[1][number][head]

            def change(said, _, of_clean=of_clean, head=head, places=range(N) if place is None else [place]):
                for at in places:
                    said[head][at] = of_clean[at]
                return said

            expected.append(run(model, corrupted, *((change, None) if number == 0 else (None, change)))[0])
        torch.testing.assert_close(patched.head((number, head), place), torch.stack(expected))


@torch.no_grad()
def test_both_runs_are_kept_and_shares_lie_between_them(model, inputs):
    patched = patching(model, inputs)
    for tokens, answer, heads in zip(
        inputs, (patched.clean, patched.corrupted), (patched.clean_heads, patched.corrupted_heads), strict=True
    ):
        for row, one in enumerate(tokens):
            expected, said = run(model, one)
            torch.testing.assert_close(answer[row], expected)
            for number in range(2):
                joined = torch.stack([torch.cat([of[at] for of in said[number]]) for at in range(N)])
                torch.testing.assert_close(heads[number][row], joined)
    assert patched.share(patched.corrupted) == 0 and patched.share(patched.clean) == 1
    torch.testing.assert_close(patched.share(0.25 * patched.clean + 0.75 * patched.corrupted).item(), 0.25)
    unequal = torch.stack([patched.clean[0], patched.corrupted[1]])  # of means, not a mean of shares
    gained = (patched.clean - patched.corrupted).double()
    torch.testing.assert_close(patched.share(unequal), gained[0] / gained.sum())
    shares = patched.heads([1, -1])
    assert shares.shape == (2, HEADS, 2)
    torch.testing.assert_close(shares[1, 2, 1], patched.share(patched.head((1, 2), N - 1)))
    torch.testing.assert_close(shares[0, 3, 0], patched.share(patched.head((0, 3), 1)))


@torch.no_grad()
def test_another_output_can_be_put_there(model, inputs):
    patched = patching(model, inputs)
    assert torch.equal(patched.head((0, 1), 2, instead=patched.corrupted_heads[0]), patched.corrupted)
    mean = patched.clean_heads[0].mean(0).expand_as(patched.clean_heads[0])
    shown = patched.head((0, 1), instead=mean)
    for row, corrupted in enumerate(inputs[1]):

        def change(said, _):
            said[1] = [mean[0, at, 2:4] for at in range(N)]
            return said

        torch.testing.assert_close(shown[row], run(model, corrupted, change)[0])


@torch.no_grad()
def test_a_path_changes_what_one_head_makes_of_another(model, inputs):
    """One head alone, though another shares its keys and values; the other heads say what they said.

    And of the symbols themselves, past all heads.
    """
    patched = patching(model, inputs)
    effects = []
    for sender, receiver, reads in product((None, *range(HEADS)), range(HEADS), READS):
        expected = []
        for clean, corrupted in zip(*inputs, strict=True):
            of_clean, of_corrupted = run(model, clean)[1], run(model, corrupted)[1]
            said = [*of_corrupted[0]]
            if sender is not None:
                said[sender] = of_clean[0][sender]
            symbols = clean if sender is None else corrupted
            changed = add(model.blocks[0], list(model.embedding.weight[symbols]), said)

            def change(said, stream, changed=changed, receiver=receiver, reads=reads):
                said[receiver] = blend(
                    model.blocks[1], receiver, *(changed if name == reads else stream for name in READS)
                )
                return said

            expected.append(run(model, corrupted, None, change)[0])
        found = patched.path(None if sender is None else (0, sender), (1, receiver), reads)
        torch.testing.assert_close(found, torch.stack(expected))
        effects.append((found - patched.corrupted).abs().max().item())
    assert min(effects) > 1e-6


@torch.no_grad()
def test_the_direct_path_is_what_the_sender_adds_to_the_answer(model, inputs):
    """The answer is linear in the stream, so the paths of a head of the last layer are the whole of its patch."""
    patched = patching(model, inputs)
    for head in range(HEADS):
        torch.testing.assert_close(patched.path((1, head)), patched.head((1, head)))
        part = slice(2 * head, 2 * head + 2)
        more = (patched.clean_heads[0] - patched.corrupted_heads[0])[:, -1, part]
        added = (more @ model.blocks[0].out_proj.weight[:, part].T).sum(-1)
        torch.testing.assert_close(patched.path((0, head)), patched.corrupted + added)
    last = (model.embedding.weight[of[:, -1]].sum(-1) for of in inputs)
    torch.testing.assert_close(patched.path(None) - patched.corrupted, next(last) - next(last))


@torch.no_grad()
def test_what_lies_between_is_computed_anew_and_no_other_head(inputs):
    """In a whole Transformer, with norms and feed-forward layers: the sender's block behind it, all heads held."""
    torch.manual_seed(0)
    model = CausalLanguageModel(6, 8, 2, 3, attention=RotaryAttention()).double()
    layers, block = attention_layers(model), model.blocks[0]
    patched = Patching(lambda tokens: model(tokens)[0][:, -1], layers, *inputs)
    assert patched.clean.shape == (2, 6) and patched.share(patched.clean).tolist() == [1] * 6
    joined = patched.corrupted_heads[0].clone()
    joined[..., 4:] = patched.clean_heads[0][..., 4:]
    stream = model.embedding(inputs[1]) + layers[0].out_proj(joined)
    stream = stream + block.feed_forward(block.feed_forward_norm(stream))
    block = model.blocks[1]
    stream = stream + layers[1].out_proj(patched.corrupted_heads[1])  # held: it does not read the sender
    stream = stream + block.feed_forward(block.feed_forward_norm(stream))
    read = model.blocks[2].attention_norm(stream)
    captured = []
    hook = layers[2].query_proj.register_forward_pre_hook(lambda _, given: captured.append(given[0]))
    plain = model(inputs[1])[0]
    hook.remove()
    heads, _ = layers[2].attention.attend(
        *(
            projection(tokens).unflatten(-1, (2, 4)).transpose(1, 2)
            for projection, tokens in (
                (layers[2].query_proj, read), (layers[2].key_proj, captured[0]), (layers[2].value_proj, captured[0]),
            )
        ),
        None, causal=True, dropout=0.0, need_weights=False,
    )  # fmt: skip
    joined = patched.corrupted_heads[2].clone()
    joined[..., :4] = heads[:, 0]
    hook = layers[2].out_proj.register_forward_pre_hook(lambda _, given: (joined,))
    expected = model(inputs[1])[0][:, -1]
    hook.remove()
    torch.testing.assert_close(patched.path((0, 1), (2, 0), "query"), expected)
    assert not torch.allclose(expected, patched.corrupted, atol=1e-6)
    assert torch.equal(model(inputs[1])[0], plain)


def test_what_cannot_be_is_refused_and_the_model_stays_as_it_was(model, inputs):
    patched = patching(model, inputs)
    with pytest.raises(ValueError, match=r"must have one shape, got \[2, 5\] and \[2, 4\]"):
        patching(model, (inputs[0], inputs[1][:, :4]))
    shared = MultiHeadAttention(WIDTH, 2)
    shared.key_proj = shared.query_proj
    with pytest.raises(ValueError, match="keys of their own"):
        Patching(model, [shared], *inputs)
    for head in ((0, 4), (0, -1), (2, 0), (-1, 0)):
        for call in (patched.head, patched.path, lambda head: patched.path((0, 0), head)):
            with pytest.raises(IndexError, match="there is no head"):
                call(head)
    with pytest.raises(IndexError):
        patched.head((0, 0), N)
    for receiver in ((0, 1), (0, 0)):
        with pytest.raises(ValueError, match=r"a layer behind the sender's, 0, got 0"):
            patched.path((0, 0), receiver)
    with pytest.raises(ValueError, match="reads must be one of query, key, value, got 'values'"):
        patched.path((0, 0), (1, 0), "values")
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert torch.equal(model(inputs[1]), patched.corrupted)


def test_hooks_go_where_the_model_fails(model, inputs):
    calls = []

    def fails_later(tokens):
        calls.append(tokens)
        if len(calls) > 2:
            raise RuntimeError("in between")
        return model(tokens)

    patched = Patching(fails_later, attention_layers(model), *inputs)
    for call in (lambda: patched.head((0, 0)), lambda: patched.path((0, 0), (1, 0))):
        with pytest.raises(RuntimeError, match="in between"):
            call()
    assert not any(module._forward_pre_hooks for module in model.modules())
