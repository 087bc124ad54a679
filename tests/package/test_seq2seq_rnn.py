from functools import partial

import pytest
import torch

from attention_course import tasks
from attention_course.course import training
from attention_course.seq2seq_rnn import GRUEncoderDecoder

ATTENTIONS = [None, "additive", "dot", "general", "concat"]


def model_and_pairs(attention):
    torch.manual_seed(0)
    return GRUEncoderDecoder(12, 16, attention), tasks.reversing(5, 6, 12, torch.Generator().manual_seed(0))


def test_additive_attention_projects_the_memory_once_for_all_steps():
    model, pairs = model_and_pairs("additive")
    shapes = []
    model.attention.key_proj.register_forward_hook(lambda layer, inputs, output: shapes.append(output.shape))
    model(pairs.source, pairs.target[:, :4])
    assert len(shapes) == 1


@torch.no_grad()
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_writing_step_by_step_equals_the_teacher_forced_pass_on_what_was_written(attention):
    model, pairs = model_and_pairs(attention)
    written, weights = model.generate(pairs.source, 6)
    logits, forced_weights = model(pairs.source, written)
    assert torch.equal(logits.argmax(-1), written)
    assert (weights is None) == (attention is None)
    if weights is not None:
        torch.testing.assert_close(weights, forced_weights)
        torch.testing.assert_close(weights.sum(-1), torch.ones(5, 6))


@torch.no_grad()
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_prediction_does_not_see_its_own_symbol_or_later_ones(attention):
    model, pairs = model_and_pairs(attention)
    changed = pairs.target.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % 12
    before, _ = model(pairs.source, pairs.target)
    after, _ = model(pairs.source, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


@torch.no_grad()
def test_without_attention_the_decoder_sees_only_the_summary():
    model, pairs = model_and_pairs(None)
    memory, summary, state = model.encode(pairs.source)
    logits, _, _ = model._decode(pairs.target, memory, summary, state)
    same, _, _ = model._decode(pairs.target, torch.zeros_like(memory), summary, state)
    assert torch.equal(logits, same)


@torch.no_grad()
def test_the_encoder_reads_in_both_directions():
    model, pairs = model_and_pairs(None)
    memory, summary, state = model.encode(pairs.source)
    changed = pairs.source.clone()
    changed[:, 3] = (changed[:, 3] + 1) % 12
    other, other_summary, _ = model.encode(changed)
    forwards, backwards = (memory != other).chunk(2, dim=-1)
    assert not forwards[:, :3].any() and forwards[:, 3:].all()
    assert backwards[:, :4].all() and not backwards[:, 4:].any()
    # Each direction's last state: that of the last symbol, and that of the first.
    assert torch.equal(summary[:, 0], torch.cat([memory[:, -1, :8], memory[:, 0, 8:]], dim=-1))
    assert (summary != other_summary).all()
    torch.testing.assert_close(state, model.bridge(summary).tanh().transpose(0, 1))


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_its_gradient_is_its_derivative(attention):
    """Along a random direction of all weights at once: nothing is cut off from what it depends on."""
    model, pairs = model_and_pairs(attention)
    weights = list(model.double().parameters())
    directions = [torch.randn_like(weight) for weight in weights]

    def loss(step):
        with torch.no_grad():
            for weight, direction in zip(weights, directions, strict=True):
                weight.add_(direction, alpha=step)
        return model(pairs.source, pairs.target)[0].square().mean()

    gradients = torch.autograd.grad(loss(0), weights)
    slope = sum((gradient * direction).sum() for gradient, direction in zip(gradients, directions, strict=True))
    ahead, behind = loss(1e-6), loss(-2e-6)
    torch.testing.assert_close((ahead - behind) / 2e-6, slope, rtol=1e-6, atol=0)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_it_learns(attention):
    model, _ = model_and_pairs(attention)
    next_batch = partial(tasks.copying, 32, 3, 4, torch.Generator().manual_seed(0))
    history = training.train(model, next_batch, training.sequence_loss, steps=150, peak_lr=2e-2)
    assert history[-1]["loss"] < 0.2 < 1.2 < history[0]["loss"]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="d_hidden must be even"):
        GRUEncoderDecoder(4, 5)
    with pytest.raises(ValueError, match="attention must be"):
        GRUEncoderDecoder(4, 6, "cosine")
    with pytest.raises(ValueError, match=r"target must hold at least one symbol a sequence, got \(1, 0\)"):
        GRUEncoderDecoder(4, 6)(torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 0, dtype=torch.long))
    with pytest.raises(ValueError, match="n_symbols must be a whole number, 1 or more, got -3"):
        GRUEncoderDecoder(4, 6).generate(torch.zeros(1, 2, dtype=torch.long), -3)
