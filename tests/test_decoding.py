from itertools import product

import pytest
import torch

from attention_course.decoding import beam_search, cut_after
from attention_course.encoder_decoder import EncoderDecoder

N_SYMBOLS, PAD, END = 4, 0, 1


@pytest.fixture(scope="module", params=range(3))
def model(request):
    torch.manual_seed(request.param)
    untrained = EncoderDecoder(N_SYMBOLS, 16, 2, 1, pad=PAD).eval()
    with torch.no_grad():
        untrained.logits.weight *= 4  # decided enough for beams to differ
    return untrained


SOURCE = torch.tensor([[2, 3, 2], [3, 3, 1], [2, 1, 0]])


def score(model, source, sequence) -> float:
    """Log-probability of a sequence up to its first END."""
    logits, _ = model(source[None], torch.tensor([sequence]))
    gains = logits[0].log_softmax(-1)[range(len(sequence)), sequence]
    length = sequence.index(END) + 1 if END in sequence else len(sequence)
    return gains[:length].sum().item()


def finished(sequence) -> tuple[int, ...]:
    return tuple(cut_after(torch.tensor(sequence), END, PAD).tolist())


@torch.no_grad()
def test_a_beam_as_wide_as_the_tree_finds_the_likeliest_sequence(model):
    symbols, scores = beam_search(model, SOURCE, 3, width=N_SYMBOLS**3, end=END, pad=PAD)
    for row, source in enumerate(SOURCE):
        every = {finished(sequence): score(model, source, list(sequence)) for sequence in product(range(4), repeat=3)}
        ranked = sorted(every, key=every.get, reverse=True)
        assert symbols[row, : len(ranked)].tolist() == [list(sequence) for sequence in ranked]
        expected = torch.tensor([every[sequence] for sequence in ranked])
        torch.testing.assert_close(scores[row, : len(ranked)], expected, atol=1e-4, rtol=0)
        assert scores[row, len(ranked) :].isneginf().all()  # there are no others


@torch.no_grad()
def test_a_beam_of_one_is_greedy(model):
    symbols, scores = beam_search(model, SOURCE, 5, width=1, end=END, pad=PAD)
    assert torch.equal(symbols[:, 0], cut_after(model.generate(SOURCE, 5), END, PAD))
    assert scores[0, 0] == pytest.approx(score(model, SOURCE[0], symbols[0, 0].tolist()), abs=1e-4)


@torch.no_grad()
def test_beams_are_sorted_and_different(model):
    symbols, scores = beam_search(model, SOURCE, 6, width=3, end=END, pad=PAD)
    assert (scores.diff(dim=1) <= 0).all()
    for beams in symbols:
        assert len({tuple(beam.tolist()) for beam in beams}) == 3


def test_all_after_the_first_end_is_cut():
    symbols = torch.tensor([[2, END, 3, END], [2, 3, 2, 3], [END, END, 2, 2]])
    expected = torch.tensor([[2, END, PAD, PAD], [2, 3, 2, 3], [END, PAD, PAD, PAD]])
    assert torch.equal(cut_after(symbols, END, PAD), expected)


def test_a_beam_has_a_width(model):
    with pytest.raises(ValueError, match="width must be 1 or more, got 0"):
        beam_search(model, SOURCE, 3, width=0, end=END, pad=PAD)
