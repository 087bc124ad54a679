import pytest
import torch
from seeding import seeded

from attention_course import tasks


def read_one_by_one(batch, row):
    """The letters that each name of a list has had, oldest first."""
    had = {}
    for name, letter in zip(batch.name[row].tolist(), batch.letter[row].tolist(), strict=True):
        had.setdefault(name, []).append(letter)
    return had


def test_half_of_the_names_change_and_the_newest_letter_is_asked_for():
    batch = tasks.changing_letters(200, 6, 5, 4, seeded())
    assert batch.name.shape == batch.letter.shape == (200, 3 * 4 + 3)
    for row in range(len(batch)):
        had = read_one_by_one(batch, row)
        assert sorted(map(len, had.values())) == [1, 1, 1, 4, 4, 4]
        assert all(len(set(letters)) == len(letters) for letters in had.values())
        asked = batch.asked[row].tolist()
        assert sorted(asked) == list(range(6))
        assert batch.target[row].tolist() == [had[name][-1] for name in asked]
        assert batch.changed[row].tolist() == [len(had[name]) > 1 for name in asked]


def test_names_letters_and_places_are_all_alike():
    batch = tasks.changing_letters(4000, 4, 5, 3, seeded())
    changes = torch.stack([batch.changed[batch.asked == name].float().mean() for name in range(4)])
    assert (changes - 0.5).abs().max() < 0.05
    for changed in (True, False):
        counts = batch.target[batch.changed == changed].bincount(minlength=5)
        assert (counts / counts.sum() - 1 / 5).abs().max() < 0.03
    at_each_place = torch.stack([(batch.name == name).float().mean(0) for name in range(4)])
    assert (at_each_place - 1 / 4).abs().max() < 0.05


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((5, 8, 3), "n_names must be even and at least 2, got 5"),
        ((0, 8, 3), "n_names must be even and at least 2, got 0"),
        ((4, 8, 1), r"n_times must lie in 2\.\.8 \(n_letters\), got 1"),
        ((4, 8, 9), r"n_times must lie in 2\.\.8 \(n_letters\), got 9"),
    ],
)
def test_impossible_counts_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        tasks.changing_letters(2, *counts, seeded())
