from copy import deepcopy
from itertools import product

import pytest
import torch

from attention_course.decoding import beam_search, continue_with_beam, cut_after
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

N_SYMBOLS, PAD, END = 4, 0, 1


@pytest.fixture(scope="module", params=range(3))
def model(request):
    torch.manual_seed(request.param)
    untrained = EncoderDecoder(N_SYMBOLS, 16, 2, 1, pad=PAD).eval()
    with torch.no_grad():
        untrained.lm_head.weight *= 4  # decided enough for beams to differ
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


def test_all_after_the_first_end_is_cut():
    symbols = torch.tensor([[2, END, 3, END], [2, 3, 2, 3], [END, END, 2, 2]])
    expected = torch.tensor([[2, END, PAD, PAD], [2, 3, 2, 3], [END, PAD, PAD, PAD]])
    assert torch.equal(cut_after(symbols, END, PAD), expected)


@torch.no_grad()
def test_a_beam_may_be_wider_than_the_vocabulary_and_says_which_rows_are_no_sequences(model):
    """Of one symbol there are 4 sequences; of two 4 + 3 * 3, since one that is complete has but one continuation."""
    for n_symbols, n_sequences in ((1, 4), (2, 13)):
        symbols, scores = beam_search(model, SOURCE, n_symbols, width=20, end=END, pad=PAD)
        assert symbols.shape == (3, 20, n_symbols)
        assert scores.isfinite().sum(1).tolist() == [n_sequences] * 3 and scores[:, n_sequences:].isneginf().all()
        for beams, gains in zip(symbols[:, :n_sequences].tolist(), scores, strict=True):
            assert len(set(map(tuple, beams))) == n_sequences
            assert gains[:n_sequences].exp().sum().item() == pytest.approx(1, abs=1e-5)  # all that there are


def test_a_beam_has_a_width_and_a_length(model):
    with pytest.raises(ValueError, match="width must be a whole number, 1 or more, got 0"):
        beam_search(model, SOURCE, 3, width=0, end=END, pad=PAD)
    with pytest.raises(ValueError, match="n_symbols must be a whole number, 1 or more, got -3"):
        beam_search(model, SOURCE, -3, width=2, end=END, pad=PAD)


@pytest.mark.parametrize(("name", "symbol"), [("end", 4), ("pad", -1), ("pad", 4)])
def test_what_ends_a_sequence_and_what_follows_are_symbols(model, name, symbol):
    with pytest.raises(ValueError, match=f"{name} must be a symbol, 0..3, got {symbol}"):
        beam_search(model, SOURCE, 3, width=2, **{"end": END, "pad": PAD, name: symbol})


@pytest.fixture(scope="module", params=range(3))
def writer(request):
    torch.manual_seed(request.param)
    untrained = CausalLanguageModel(N_SYMBOLS, 16, 2, 2, attention=RotaryAttention()).eval()
    with torch.no_grad():
        untrained.lm_head.weight *= 4
    return untrained


PROMPTS = torch.tensor([[2, 3, 2, 0], [3, 1, 1, 0]])


@torch.no_grad()
def test_a_beam_as_wide_as_the_vocabulary_finds_the_likeliest_pair(writer):
    symbols, scores = continue_with_beam(writer, PROMPTS, 2, width=N_SYMBOLS)
    for row, prompt in enumerate(PROMPTS):
        every = {}
        for pair in product(range(N_SYMBOLS), repeat=2):
            text = torch.cat([prompt, torch.tensor(pair)])
            gains = writer(text[None])[0][0].double().log_softmax(-1)
            every[pair] = (gains[-3, pair[0]] + gains[-2, pair[1]]).item()
        ranked = sorted(every, key=every.get, reverse=True)[:N_SYMBOLS]
        assert symbols[row].tolist() == [[*prompt.tolist(), *pair] for pair in ranked]
        assert scores[row].tolist() == pytest.approx([every[pair] for pair in ranked], abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@torch.no_grad()
def test_a_long_sum_of_log_probabilities_is_kept_in_float32(writer, dtype):
    """In bfloat16 a sum near -300 moves in steps of 2, and most symbols would cost nothing."""
    model = deepcopy(writer).to(dtype)
    symbols, scores = continue_with_beam(model, PROMPTS, 300, width=2)
    assert symbols.shape == (2, 2, 304) and torch.equal(symbols[:, :, :4], PROMPTS[:, None].expand(-1, 2, -1))
    assert (scores.diff(dim=1) <= 0).all()
    caches, gains = model.new_caches(), 0
    flat = symbols.flatten(0, 1)
    logits = [model(part, caches=caches)[0][:, -1] for part in (flat[:, :4], *flat[:, 4:-1].split(1, dim=1))]
    for step, row in enumerate(logits):
        gains = gains + row.double().log_softmax(-1).gather(-1, flat[:, 4 + step, None])[:, 0]
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores.flatten().double(), gains, atol=0.01, rtol=0)


@torch.no_grad()
def test_a_beam_of_one_continues_greedily(writer):
    symbols, _ = continue_with_beam(writer, PROMPTS, 12, width=1)
    assert torch.equal(symbols[:, 0], writer.generate(PROMPTS, 12, temperature=0))


def test_a_beam_that_cannot_be_is_refused(writer):
    with pytest.raises(ValueError, match="width must be a whole number, 1 or more, got 0"):
        continue_with_beam(writer, PROMPTS, 3, width=0)
    with pytest.raises(ValueError, match="width must be at most 4, all symbols there are, got 5"):
        continue_with_beam(writer, PROMPTS, 3, width=5)
    with pytest.raises(ValueError, match="n_symbols must be a whole number, 1 or more, got 0"):
        continue_with_beam(writer, PROMPTS, 0, width=2)
    with pytest.raises(ValueError, match=r"prompt must have shape .* 1 or more, got \(2, 0\)"):
        continue_with_beam(writer, PROMPTS[:, :0], 3, width=2)
