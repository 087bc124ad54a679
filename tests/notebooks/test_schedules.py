"""The instructors' schedules say of pages and exercises what the pages say, and their sums are right."""

import json
import re

import pytest
from lessons import IN_ORDER, LESSON_NAMES
from limits import EXERCISE, EXERCISES, parts, stated_minutes

from attention_course.exercises import CHAPTERS

PLAN = re.compile(r"(?m)^## (.+)\n")
DAY = re.compile(r"(?m)^### (.+)\n")
LINE = re.compile(r"(?m)^- \*\*(Read|Assign|Together)\*\* (.+)\.$")
PAGE = re.compile(r"\[([^\]]+)\]\(\.\./chapters/(\w+)\.ipynb\)([^;\[]*), (\d+) minutes")
LINK = re.compile(r"\[([^\]]+)\]\(\.\./chapters/(\w+)\.ipynb\)")
NUMBER = re.compile(r"(\d+)(?: \(`([\w.]+)`\))?")
CHECK = re.compile(r'check\(\s*"([\w.]+)"')
PART_OF_LECTURE = re.compile(r"(?m)^- \*\*(\d+) minutes\*\*")
COMMAND = re.compile(r"(?m)^\.venv/bin/python -m attention_course assign ((?:\w+ )+)--")


@pytest.fixture(scope="module")
def schedules(root):
    return (root / "instructors" / "schedules.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plans(schedules):
    """By its heading, each schedule as a list of days: a heading, and by its kind the text of each line."""
    _, *pieces = PLAN.split(schedules)
    return {
        heading: [(day, dict(LINE.findall(text))) for day, text in in_pairs(DAY.split(plan)[1:])]
        for heading, plan in in_pairs(pieces)
    }


@pytest.fixture(scope="module")
def read_page(root):
    return lambda name: json.loads((root / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))


def in_pairs(pieces):
    return zip(pieces[::2], pieces[1::2], strict=True)


def numbered(notebook):
    """By its number, each exercise's minutes and the name that its check has; `None` where it has none."""
    found, number = {}, None
    for part in parts(notebook):
        if part.section != EXERCISES:
            continue
        for heading in EXERCISE.finditer(part.text):
            number = int(heading["number"])
            found[number] = (int(heading["minutes"]), None)
        check = CHECK.search("".join(part.cell["source"])) if part.cell else None
        if check:
            found[number] = (found[number][0], check[1])
    return found


def days_of(plans):
    return [day for plan in plans.values() for day in plan]


def test_there_are_a_lecture_two_weeks_and_a_term(plans):
    assert [(heading, len(days)) for heading, days in plans.items()] == [
        ("A guest lecture of two hours", 0),
        ("Two weeks for sixty", 10),
        ("The whole course", 15),
    ]
    assert all(list(lines) == ["Read", "Assign", "Together"] for _, lines in days_of(plans))


def test_the_lecture_takes_two_hours(schedules):
    assert sum(map(int, PART_OF_LECTURE.findall(schedules))) == 120


def test_every_page_is_named_by_its_title(schedules, read_page):
    named = set(LINK.findall(schedules)) - {("the primer", "primer")}
    assert named == {("".join(read_page(name)["cells"][0]["source"]).splitlines()[0][2:], name) for _, name in named}


def test_reading_takes_what_the_pages_say(plans, read_page):
    for day, lines in days_of(plans):
        pages = PAGE.findall(lines["Read"])
        said = [(name, int(minutes)) for _, name, _, minutes in pages]
        assert said == [(name, stated_minutes(read_page(name))[0]) for name, _ in said], day
        assert said and len(said) == len(LINK.findall(lines["Read"])), day


def test_assigned_exercises_are_the_pages_own(plans, read_page):
    """Each has its number and the name of its check, and together they take what their headings say."""
    for day, lines in days_of(plans):
        pages = PAGE.findall(lines["Assign"])
        assert [name for _, name, _, _ in pages] == [name for _, name, _, _ in PAGE.findall(lines["Read"])], day
        for _, name, assigned, minutes in pages:
            exercises = numbered(read_page(name))
            named = {int(number): check or None for number, check in NUMBER.findall(assigned)}
            assert named == {number: exercises[number][1] for number in named}, f"{day}: {name}"
            assert int(minutes) == sum(exercises[number][0] for number in named), f"{day}: {name}"


def test_the_sum_of_each_day_is_right(plans):
    for day, lines in days_of(plans):
        minutes = [int(page[3]) for kind in ("Read", "Assign") for page in PAGE.findall(lines[kind])]
        assert lines["Together"] == f"{sum(minutes)} minutes", day


def test_the_term_reads_every_lesson_once_and_in_order(plans):
    read = [page[1] for _, lines in plans["The whole course"] for page in PAGE.findall(lines["Read"])]
    assert len(set(read)) == len(read)
    lessons = [name for name in IN_ORDER if name in LESSON_NAMES]
    assert [name for name in read if name in LESSON_NAMES] == lessons, "instructors/schedules.md reads others"


def test_what_is_handed_out_can_be_assigned(schedules):
    lessons = [lesson for names in COMMAND.findall(schedules) for lesson in names.split()]
    assert len(lessons) == 8
    assert set(lessons) <= set(CHAPTERS)
