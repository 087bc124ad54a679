import torch
from sklearn.datasets import load_digits

from attention_course import tasks


def test_the_two_parts_are_scikit_learns_digits_without_overlap():
    train, test = tasks.handwritten_digits()
    assert len(train) + len(test) == 1797 and 0.24 < len(test) / 1797 < 0.26
    images = torch.cat([train.images, test.images]).flatten(1) * 16
    ours = torch.cat([images, torch.cat([train.labels, test.labels]).unsqueeze(1)], dim=1)
    bunch = load_digits()
    theirs = torch.tensor(bunch.data, dtype=torch.float32), torch.tensor(bunch.target).unsqueeze(1)
    assert sorted(ours.tolist()) == sorted(torch.cat(theirs, dim=1).tolist())


def test_every_digit_has_its_share_of_both_parts():
    train, test = tasks.handwritten_digits(test_share=0.5, seed=3)
    difference = train.labels.bincount(minlength=10) - test.labels.bincount(minlength=10)
    assert difference.abs().max() <= 1


def test_the_seed_decides_the_split():
    first, again, other = (tasks.handwritten_digits(seed=seed)[1] for seed in (0, 0, 1))
    assert torch.equal(first.images, again.images) and not torch.equal(first.images, other.images)
