from functools import partial

import pytest
import torch
from seeding import seeded

from attention_course import tasks
from attention_course.course import training
from attention_course.embeddings import ImagePatches
from attention_course.encoder_decoder import EncoderDecoder

N_SYMBOLS, PAD = 12, 0


def model(**settings):
    torch.manual_seed(0)
    return EncoderDecoder(N_SYMBOLS, 16, 4, 2, pad=PAD, **settings).eval()


def symbols(*shape, seed=0):
    return torch.randint(1, N_SYMBOLS, shape, generator=seeded(seed))


@torch.no_grad()
def test_padding_of_the_source_changes_nothing():
    short, target = symbols(3, 5), symbols(3, 6, seed=1)
    padded = torch.cat([short, torch.full((3, 4), PAD)], dim=1)
    logits, weights = model()(padded, target, need_weights=True)
    torch.testing.assert_close(logits, model()(short, target)[0], atol=1e-5, rtol=0)
    assert len(weights) == 2
    for cross in weights:
        assert cross.shape == (3, 4, 6, 9)
        assert (cross[..., 5:] == 0).all()


@torch.no_grad()
def test_a_prediction_sees_the_whole_source_and_only_earlier_targets():
    source, target = symbols(2, 5), symbols(2, 6, seed=1)
    logits = model()(source, target)[0]
    changed = target.clone()
    changed[:, 3:] = changed[:, 3:] % (N_SYMBOLS - 1) + 1
    after = model()(source, changed)[0]
    torch.testing.assert_close(logits[:, :4], after[:, :4])  # the target before them is the same
    assert not torch.allclose(logits[:, 4], after[:, 4])
    changed = source.clone()
    changed[:, -1] = changed[:, -1] % (N_SYMBOLS - 1) + 1
    assert not torch.isclose(model()(changed, target)[0], logits).all(-1).any()


@torch.no_grad()
def test_an_empty_target_has_no_predictions():
    logits, weights = model()(symbols(2, 5), symbols(2, 0), need_weights=True)
    assert logits.shape == (2, 0, N_SYMBOLS) and weights[0].shape == (2, 4, 0, 5)


@torch.no_grad()
def test_what_it_writes_is_what_it_finds_likeliest():
    source = symbols(4, 5)
    written = model().generate(source, 7)
    assert written.shape == (4, 7)
    logits, weights = model()(source, written)
    assert torch.equal(logits.argmax(-1), written) and weights is None


def test_it_learns_to_reverse_and_its_cross_attention_finds_the_source():
    torch.manual_seed(0)
    learner, generator = EncoderDecoder(8, 32, 2, 1), seeded()
    next_batch = partial(tasks.reversing, 64, 6, 8, generator)
    training.train(learner, next_batch, training.sequence_loss, steps=300, peak_lr=1e-2)
    held_out = tasks.reversing(200, 6, 8, seeded(9))
    assert training.accuracy(learner.generate(held_out.source, 6), held_out.target)["sequences"] > 0.95
    _, (weights,) = learner(held_out.source, held_out.target, need_weights=True)
    best = min(training.alignment_error(weights[:, head], held_out.gold) for head in range(2))
    assert best < 0.5  # chance: 0.83


@torch.no_grad()
def test_an_image_can_be_the_source():
    torch.manual_seed(0)
    reader = EncoderDecoder(N_SYMBOLS, 16, 4, 1, embed_source=ImagePatches(4, 16)).eval()
    images, target = torch.rand(3, 8, 8, generator=seeded()), symbols(3, 5)
    logits, (weights,) = reader(images, target, need_weights=True)
    assert logits.shape == (3, 5, N_SYMBOLS) and weights.shape == (3, 4, 5, 4)
    assert reader.generate(images, 5).dtype == torch.long


def test_padding_needs_symbols():
    with pytest.raises(ValueError, match="pad must be None with embed_source.*got 0"):
        EncoderDecoder(N_SYMBOLS, 16, 4, 1, pad=0, embed_source=ImagePatches(4, 16))


@pytest.mark.parametrize("number", [-3, 1.5])
def test_how_many_to_write_is_a_whole_number(number):
    writer = EncoderDecoder(N_SYMBOLS, 16, 4, 1)
    with pytest.raises(ValueError, match=f"n_symbols must be a whole number, 0 or more, got {number}"):
        writer.generate(symbols(1, 2), number)
    assert writer.generate(symbols(1, 2), 0).shape == (1, 0)
