import datetime
import re
from collections import Counter

import pytest
import torch
from seeding import seeded

from attention_course.tasks import dates


@pytest.fixture(scope="module")
def batch():
    return dates.written_dates(2000, seeded(0))


def texts(batch):
    return [
        (dates.to_text(source), dates.to_text(target))
        for source, target in zip(batch.source, batch.target, strict=True)
    ]


def test_a_target_is_a_date_of_the_calendar_and_its_source_names_the_same_day(batch):
    for text, iso in texts(batch):
        date = datetime.date.fromisoformat(iso)
        assert date.isoformat() == iso and dates.FIRST_YEAR <= date.year <= dates.LAST_YEAR
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        months = {names[date.month - 1] for names in dates.MONTHS.values()}
        if len(numbers) == 3:
            assert sorted(numbers[:2]) == sorted((date.day, date.month)) and numbers[2] == date.year
        else:
            assert numbers == [date.day, date.year]
            assert set(re.findall(r"[^\W\d]{3,}", text)) <= months


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("November 21, 2026", {"2026-11-21"}),
        ("21 November 2026", {"2026-11-21"}),
        ("le 21 novembre 2026", {"2026-11-21"}),
        ("21. November 2026", {"2026-11-21"}),
        ("21 de noviembre de 2026", {"2026-11-21"}),
        ("21.11.2026", {"2026-11-21"}),
        ("3.4.2026", {"2026-04-03"}),
        ("3/4/2026", {"2026-04-03", "2026-03-04"}),
        ("4/4/2026", {"2026-04-04"}),
        ("21/11/2026", {"2026-11-21"}),
        ("11/21/2026", {"2026-11-21"}),
        ("29/2/2025", set()),
        ("tomorrow", set()),
    ],
)
def test_readings(text, expected):
    assert dates.readings(text) == expected


def test_the_target_is_one_of_the_readings_and_only_slashes_have_two(batch):
    for text, iso in texts(batch):
        meanings = dates.readings(text)
        assert iso in meanings
        assert len(meanings) == 1 or "/" in text


def test_every_form_of_every_language_occurs_in_its_share(batch):
    written = Counter(re.sub(r"[^\W\d]{3,}", "N", re.sub(r"\d+", "1", text)) for text, _ in texts(batch))
    english, other = 1 / 4 / 3, 1 / 4 / 2  # a language in four, and one of its forms
    shares = {"N 1, 1": english, "1 N 1": english, "1/1/1": english + 2 * other, "le 1 N 1": other}
    shares |= {"1. N 1": other, "1.1.1": other, "1 de N de 1": other}
    assert written.keys() == shares.keys()
    assert all(abs(written[form] / len(batch) - share) < 0.02 for form, share in shares.items())


def test_every_decade_month_and_day_is_drawn(batch):
    drawn = [datetime.date.fromisoformat(iso) for _, iso in texts(batch)]
    assert {date.year // 10 for date in drawn} == set(range(190, 210))
    assert {date.month for date in drawn} == set(range(1, 13))
    assert {date.day for date in drawn} == set(range(1, 32))


def test_gold_characters_spell_the_part_that_they_decide(batch):
    for row, (text, iso) in enumerate(texts(batch)):
        marked = ["".join(text[place] for place in gold.nonzero()[:, 0].tolist()) for gold in batch.gold[row]]
        assert marked[:4] == list(iso[:4])
        assert marked[4] == marked[7] == ""
        months = {names[int(iso[5:7]) - 1] for names in dates.MONTHS.values()} | {str(int(iso[5:7]))}
        assert marked[5] == marked[6] and marked[5] in months
        assert marked[8] == marked[9] == str(int(iso[8:]))


def test_a_text_read_back_is_its_source(batch):
    for row in range(50):
        assert torch.equal(dates.from_text(dates.to_text(batch.source[row]))[0], batch.source[row])


@pytest.mark.parametrize("text", ["21 Nov %", "x" * 100])
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match="text must have at most"):
        dates.from_text(text)


def test_padding_only_fills_up_and_the_longest_date_fits_exactly(batch):
    real = batch.source != dates.PAD
    assert torch.equal(real, real.cummin(dim=1).values)
    assert dates.N_SOURCE == len("30 de septiembre de 2099")
    assert not batch.gold[~real[:, None, :].expand_as(batch.gold)].any()
