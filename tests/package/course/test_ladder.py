import itertools
import math
from collections import Counter

import pytest
import torch
from sweeps import load
from torch import nn

from attention_course import tasks
from attention_course.course import ladder, recorded
from attention_course.course.ladder import LADDER, LESSONS

VOCAB_SIZE = 11


class Last(nn.Module):
    """Logits for what follows the last letter, which depend on the first one too."""

    def __init__(self):
        super().__init__()
        self.first, self.last = (nn.Embedding(VOCAB_SIZE, VOCAB_SIZE) for _ in range(2))

    def forward(self, letters):
        return self.first(letters[:, 0]) + self.last(letters[:, -1])


class Every(Last):
    """Logits for what follows every letter, which depend on the window's first letter and on the place."""

    def forward(self, letters):
        places = torch.arange(letters.size(1))[:, None]
        return self.first(letters[:, :1]) + self.last(letters) + places


@pytest.fixture
def text():
    return torch.randint(VOCAB_SIZE, (57,), generator=torch.Generator().manual_seed(0))


def cost(logits, symbol):
    """In bits, in float64."""
    return -(logits.double().softmax(-1)[symbol].log() / math.log(2)).item()


def test_a_model_that_is_asked_for_the_last_is_scored_on_every_letter_with_a_full_window_before_it(text):
    model, window = Last(), 5
    expected = [cost(model(text[None, at - window : at])[0], text[at]) for at in range(window, len(text))]
    assert ladder.unread_bits(model, text, window) == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def test_a_model_that_is_asked_for_every_letter_is_scored_on_the_second_halves_of_overlapping_windows(text):
    model, window = Every(), 8
    starts = range(0, len(text) - window, window // 2)
    answers = [(model(text[None, start : start + window])[0], start) for start in starts]
    expected = [cost(logits[at], text[start + at + 1]) for logits, start in answers for at in range(4, 8)]
    assert ladder.unread_bits(model, text, window) == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def test_one_letter_is_scored_on_all_but_the_first(text):
    model = nn.Embedding(VOCAB_SIZE, VOCAB_SIZE)
    expected = [cost(model(text[at - 1]), text[at]) for at in range(1, len(text))]
    assert ladder.unread_bits(model, text, 1) == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def test_training_lowers_the_bits_and_the_seed_chooses_the_windows():
    vocab_size = len(tasks.python_help().vocabulary)

    def train(seed):
        torch.manual_seed(0)
        model = nn.Embedding(vocab_size, vocab_size)
        return ladder.train(model, window=1, batch=64, peak_lr=0.1, seed=seed, steps=6, every=3)

    first, again, other = train(0), train(0), train(1)
    bits = [[record["bits"] for record in history] for history in (first, again, other)]
    assert bits[0] == bits[1] != bits[2]
    assert bits[0] == sorted(bits[0], reverse=True) and len(bits[0]) == 3
    seconds = [record["seconds"] for record in first]
    assert seconds == sorted(seconds) and seconds[0] >= 0


def test_a_step_is_trained_as_it_was_recorded(monkeypatch):
    told = {}
    monkeypatch.setattr(ladder, "train", lambda model, **options: told.update(options) or [{"bits": 3.0}])
    assert ladder.train_step("one head", nn.Identity(), seed=4) == 3.0
    assert told == {"window": 16, "batch": 512, "peak_lr": recorded.load("ladder")["best_rates"]["one head"], "seed": 4}
    with pytest.raises(ValueError, match=r"name must be one of \['letter', .*'two heads'"):
        ladder.train_step("two heads", nn.Identity())


def test_writing_goes_on_letter_by_letter_from_what_a_window_holds():
    text = tasks.python_help()
    vocab_size = len(text.vocabulary)
    pages = {"letter": 1, "one head": 16}
    for name, window in pages.items():
        read = []

        def next_in_the_alphabet(letters, read=read):  # every probability on one letter
            read.append(letters.shape)
            return 1000.0 * torch.eye(vocab_size)[(letters[:, -1] + 1) % vocab_size]

        a = text.encode("a").item()
        expected = text.decode(torch.arange(a, a + 4))
        assert ladder.write(name, as_model(next_in_the_alphabet), "a", 3) == expected
        assert set(read) == {(1, window)}


def test_a_model_that_is_asked_everywhere_goes_on_from_its_last_letter_and_marks_the_ends_of_lines():
    text = tasks.python_help()
    ends, a = text.encode("\n").item(), text.encode("a").item()

    def forward(letters):  # after an a the end of a line, otherwise an a
        return 1000.0 * torch.eye(len(text.vocabulary))[torch.where(letters == a, ends, a)]

    assert ladder.write("positions", as_model(forward), "a", 4) == "a¶a¶a"


def as_model(forward):
    """A function as a module with a device."""
    model = nn.Linear(1, 1)
    model.forward = forward
    return model


def test_the_steps_are_those_of_the_lessons_in_their_order():
    places = [LESSONS.index(step.lesson) for step in LADDER.values()]
    assert places == sorted(places)
    assert set(LESSONS) - {step.lesson for step in LADDER.values()} == {"scaled_dot_product"}
    assert set(LADDER) <= set(load("ladder").MODELS)


def test_where_every_letter_asks_as_many_letters_are_read_before_each_change():
    assert all(isinstance(step.part, str) for step in LADDER.values())
    read = [(step.window, step.window * step.batch) for step in LADDER.values()]
    assert read == [(1, 512), *[(16, 8192)] * 3, *[(64, 2048)] * 4, (128, 2048)]


def test_every_rate_that_was_best_lies_between_others_that_were_tried():
    record = recorded.load("ladder")
    lowest, *between, highest = record["settings"]["peak_lrs"]
    assert set(record["best_rates"].values()) <= set(between)


def test_what_is_compared_has_as_many_parameters():
    parameters = {row["model"]: row["parameters"] for row in recorded.load("ladder")["results"]}
    for blocks in ("one block", "three blocks"):
        assert parameters[f"GRU, {blocks}"] == pytest.approx(parameters[blocks], rel=0.02)


# Counting -------------------------------------------------------------------------------------------------------------


def test_what_is_taken_off_each_count_goes_to_what_the_shorter_order_says():
    """After one letter, by the formulas: of pairs, and of how many different letters stood before each."""
    letters = (torch.rand(120, generator=torch.Generator().manual_seed(0)).square() * 9).long().tolist()
    pairs = Counter(itertools.pairwise(letters))
    n = [sum(count == times for count in pairs.values()) for times in range(5)]
    y = n[1] / (n[1] + 2 * n[2])
    off = [0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
    kinds = Counter(second for _, second in pairs)  # each has stood behind more than one letter: nothing is taken off
    counts = load("_counting").Counts(letters, order=1, vocab_size=9)
    for before, symbol in itertools.product(range(9), range(9)):
        seen = [pairs[before, other] for other in range(9)]
        given = sum(off[min(count, 3)] for count in seen) * kinds[symbol] / kinds.total()
        expected = (seen[symbol] - off[min(seen[symbol], 3)] + given) / sum(seen)
        assert counts.probability([before], symbol) == pytest.approx(expected)


@pytest.mark.parametrize("order", [0, 2, 3])
def test_the_probabilities_of_all_letters_sum_to_one(text, order):
    counts = load("_counting").Counts(text.tolist(), order, VOCAB_SIZE)
    for before in ([], [1], [2, 3], [4, 5, 6, 7]):
        assert sum(counts.probability(before, symbol) for symbol in range(VOCAB_SIZE)) == pytest.approx(1)


def test_the_bits_are_the_mean_over_the_letters_asked_for(text):
    counts, letters = load("_counting").Counts(text.tolist(), 2, VOCAB_SIZE), text.tolist()
    costs = [-math.log2(counts.probability(letters[:at], letters[at])) for at in range(2, len(letters))]
    assert counts.bits(letters, first=2) == pytest.approx(sum(costs) / len(costs))
