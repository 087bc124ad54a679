"""The grades of the projects read a model's outputs: they know what a learner hands in, and pass at their goals."""

import pytest
import torch

from attention_course import tasks
from attention_course.exercises.projects import GOALS, grade_dates, grade_names, grade_pairs
from attention_course.tasks import dates, spelling, translation

DATES = dates.written_dates(300, torch.Generator().manual_seed(0))
TWO_READINGS = torch.tensor([len(dates.readings(dates.to_text(source))) > 1 for source in DATES.source])
DIGITS = spelling.spelled_digits()[1][:300]
PAIRS = tasks.translation_pairs(300, torch.Generator().manual_seed(0))
GRADES = [(grade_dates, DATES), (grade_names, DIGITS), (grade_pairs, PAIRS)]


def spoiled(target, n_rows):
    """A target whose first rows have a symbol that is wrong."""
    written = target.clone()
    rows = torch.arange(len(target)) < n_rows
    written[rows, 0] = (written[rows, 0] + 1) % 3 + 2
    written[rows, 0] = torch.where(written[rows, 0] == target[rows, 0], 5, written[rows, 0])
    return written


@pytest.mark.parametrize(("grade", "batch"), GRADES)
def test_a_goal_is_reached_at_its_share(grade, batch):
    goal = GOALS[grade.__name__.removeprefix("grade_")]
    every = grade(batch.target, batch)
    assert every.passed and f"Goal of {goal:.0%} reached." in every.message
    assert grade(spoiled(batch.target, 300 * (1 - goal) / 2), batch).passed
    below = grade(spoiled(batch.target, 300 * 2.5 * (1 - goal)), batch)
    assert below.status == "wrong" and below.misconception is None and "not reached yet" in below.message


@pytest.mark.parametrize(("grade", "batch"), GRADES)
def test_what_learners_hand_in_is_recognised(grade, batch):
    target = batch.target
    assert grade(..., batch).status == "not attempted"
    handed_in = {
        "no tensor": (target.tolist(), "got list"),
        "logits": (torch.randn(*target.shape, 40), "let the model write"),
        "no whole numbers": (target.float(), "got torch.float32"),
        "shape": (target[:, :-1], f"of shape {tuple(target.shape)}"),
        "one place late": (target.roll(1, 1), "leave the start symbol out"),
        "the same for all": (target[:1].expand_as(target).clone(), "whatever the source"),
    }
    for name, (written, told) in handed_in.items():
        verdict = grade(written, batch)
        assert (verdict.status, verdict.misconception) == ("wrong", name) and told in verdict.message


@pytest.mark.parametrize(("grade", "batch"), GRADES[1:])
def test_what_stands_behind_the_period_is_named(grade, batch):
    written = torch.where(batch.target == 0, 2, batch.target)
    verdict = grade(written, batch)
    assert (verdict.status, verdict.misconception) == ("wrong", "not cut") and "`cut_after`" in verdict.message


def test_day_and_month_in_each_others_place_are_named():
    target = DATES.target
    exchanged = torch.cat([target[:, :5], target[:, 8:], target[:, 7:8], target[:, 5:7]], dim=1)
    verdict = grade_dates(exchanged, DATES)
    assert (verdict.status, verdict.misconception) == ("wrong", "exchanged") and "each other's place" in verdict.message


def test_it_is_told_how_often_each_part_of_a_date_is_wrong():
    batch = DATES[(~TWO_READINGS).nonzero()[:100, 0]]
    written = batch.target.clone()
    for place, rows in ((3, 5), (6, 10), (9, 20)):
        written[:rows, place] = dates.IDS["-"]
    verdict = grade_dates(written, batch)
    assert verdict.status == "wrong"
    assert "Wrong: the year in 5.0%, the month in 10.0%, the day in 20.0%." in verdict.message


@pytest.mark.parametrize(
    ("others", "neither", "told"),
    [
        (10, 0, "0.0% are the day that was meant, and 100.0% one of the two readings"),
        (5, 0, "50.0% are the day that was meant, and 100.0% one of the two readings"),
        (5, 2, "30.0% are the day that was meant, and 80.0% one of the two readings"),
    ],
)
def test_the_other_reading_of_a_date_is_counted_as_a_reading(others, neither, told):
    batch = DATES[torch.cat([TWO_READINGS.nonzero()[:10, 0], (~TWO_READINGS).nonzero()[:20, 0]])]
    written = batch.target.clone()
    for row in range(others):
        (other,) = dates.readings(dates.to_text(batch.source[row])) - {dates.to_text(batch.target[row])}
        written[row] = torch.tensor([dates.IDS[character] for character in other])
    written[10 - neither : 10, 9] = dates.IDS["-"]
    verdict = grade_dates(written, batch)
    assert verdict.passed
    assert f"100.0% of the dates with one reading are right. Of those with two, {told}" in verdict.message


def test_names_of_no_digit_are_counted():
    written = DIGITS.target.clone()
    written[0, :4] = torch.tensor([spelling.IDS[letter] for letter in "zzzz"])
    assert "1 of 300 name no digit" in grade_names(written, DIGITS).message


def test_pads_are_no_words():
    assert (PAIRS.target == translation.PAD).any()
    written = PAIRS.target.clone()
    written[:, 0] = translation.IDS["souvent"]
    words = (PAIRS.target != translation.PAD).sum().item()
    assert f"{1 - 300 / words:.1%} of their words" in grade_pairs(written, PAIRS).message


def test_a_goal_that_is_reached_exactly_is_reached():
    """In 32 bits 1,800 of 2,000 are less than 0.9."""
    pairs = tasks.translation_pairs(2000, torch.Generator().manual_seed(0))
    assert grade_pairs(spoiled(pairs.target, 2000 - 2000 * GOALS["pairs"]), pairs).passed
