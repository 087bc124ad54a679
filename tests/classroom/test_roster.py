"""Absent, undecided and wrong are three things in all tables; a group has one hand-in; what cannot be read is named."""

import re
import zipfile

import pytest
from test_grade import CHECK, JACOBIAN, ONE, RIGHT, START, WRONG, made, marks, notebook
from test_overrides import UNDEFINED

from attention_classroom.grade import main
from attention_classroom.roster import read_roster

pytestmark = pytest.mark.usefixtures("in_this_thread")
DUE = "2027-03-01T18:00+01:00"
CLASS = ["Ada_1", "Ada_2", "Ben Oh_3"]


@pytest.fixture
def graded(tmp_path):
    """A class of four, of whom one is absent and one undecided; gives the command that grades it."""
    ONE.save(tmp_path / "assignment.json")
    for name, answer in {"Ada_1": RIGHT, "Eve_2": None, "Pia_3": WRONG, "Guest_9": RIGHT}.items():
        notebook(tmp_path / "class" / f"{name}.ipynb", START, f"{answer}\n{CHECK}" if answer else UNDEFINED)
    (tmp_path / "roster.csv").write_text("student\nAda\nZoe Absent\nEve_2\nPia\n")
    call = ["assignment.json", "class", "--out", "out", "--roster", "roster.csv"]
    return lambda *more: main([one if one.startswith("--") else str(tmp_path / one) for one in (*call, *more)])


def test_absent_undecided_and_wrong_are_three_things(tmp_path, graded, capsys):
    out = tmp_path / "out"
    assert graded() == 0
    told = capsys.readouterr().out
    rows = marks(out)
    assert {name: (row["points"], row[JACOBIAN]) for name, row in rows.items()} == {
        "Ada_1": ("2", "passed"), "Eve_2": ("", "look yourself"), "Pia_3": ("0", "wrong"),
        "Guest_9": ("2", "passed"), "Zoe Absent": ("", "absent"),
    }  # fmt: skip
    moodle = (out / "moodle.csv").read_text()
    assert "Participant 2,,\n" in moodle and "Participant 3,0,\n" in moodle
    assert "Eve,2,,,,\n" in (out / "canvas.csv").read_text() and "Zoe" not in (out / "canvas.csv").read_text()
    for line in (
        f"Handed in, and not in {tmp_path / 'roster.csv'}, perhaps under another name: Guest_9.",
        "Hand-ins that have no points until then: 1.",
        "Absent, without points in grades.csv and without a line in the files for gradebooks: Zoe Absent.",
    ):
        assert line in told and line in (out / "class.md").read_text()
    assert "4 submissions" in told and "4 submissions" in (out / "class.md").read_text()
    assert "1 absent" in (out / "class.md").read_text() and "absent" not in (out / "mistakes.html").read_text()
    (page,) = (out / "feedback").glob("Eve_2-*.md")
    assert "is still to be decided for 1 of your answers" in page.read_text() and "0 of 2" not in page.read_text()
    assert not list((out / "feedback").glob("Zoe*"))

    table = out / "decided.csv"
    table.write_text(table.read_text().replace(f"{JACOBIAN},,", f"{JACOBIAN},1,") + f"Zoe Absent,{JACOBIAN},2\n")
    assert graded() == 0  # and an absent student may be given points, for what was said aloud
    rows = marks(out)
    assert (rows["Eve_2"]["points"], rows["Zoe Absent"]["points"]) == ("1", "2")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Ada", "line 3: 'Ada' may be any of ['Ada_1', 'Ada_2']: write which"),
        ("Ben Oh_3", "line 3: 'Ben Oh_3' stands in line 2 already"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, line, message):
    path = tmp_path / "roster.csv"
    path.write_text(f"student\nBen Oh\n{line}\n")
    with pytest.raises(ValueError, match=re.escape(f"roster.csv, {message}")):
        read_roster(path, DUE, CLASS)


def test_who_has_more_time_is_late_from_then_on_only(tmp_path, graded):
    made(*ONE.tasks, due=DUE, late_per_day=0.5).save(tmp_path / "assignment.json")
    (tmp_path / "roster.csv").write_text("student,extension\nAda,2\nPia\nGuest,2027-03-03 18:00\nEve,\n")
    (tmp_path / "times.csv").write_text("\n".join(f"{name},2027-03-03T19:00+01:00" for name in ("Ada", "Guest", "Pia")))
    assert graded("--times", "times.csv") == 0
    rows = marks(tmp_path / "out")
    assert {name: (row["days late"], row["points"]) for name, row in rows.items()} == {
        "Ada_1": ("1", "1"), "Guest_9": ("1", "1"), "Pia_3": ("3", "0"), "Eve_2": ("0", ""),
    }  # fmt: skip
    (page,) = (tmp_path / "out" / "feedback").glob("Guest_9-*.md")
    assert "1 day late: 50% less for each. You had until 2027-03-03 18:00+01:00." in page.read_text()


def test_what_a_group_handed_in_once_counts_for_each_of_it_and_is_decided_once(tmp_path):
    """As in a newer Moodle, whose folder has the name and the number of the group, and its worksheet a column."""
    made(*ONE.tasks, due=DUE, late_per_day=0.5).save(tmp_path / "assignment.json")
    for name, answer in {"Red_12": UNDEFINED, "Cy_9": f"{RIGHT}\n{CHECK}"}.items():
        notebook(tmp_path / "class" / f"{name}_assignsubmission_file_" / "scale.ipynb", START, answer)
    late, never = '"Tuesday, 2 March 2027, 5:00 PM"', "-"
    of_each = {"Ada,1007": f"{late},Red,", "Ben,8": f"{late},Red,2", "Cy,9": f"{never},,"}
    of_each["Zoe,12"] = f"{never},Blue,"  # another group has this number
    rows = [f"Participant {one.split(',')[1]},{one.split(',')[0]},{more}" for one, more in of_each.items()]
    head = "Identifier,Full name,Last modified (submission),Group,extension"
    (tmp_path / "sheet.csv").write_text("\n".join([head, *rows, ""]))
    call = ["assignment.json", "class", "--out", "out", "--roster", "sheet.csv", "--times", "sheet.csv"]
    call = [one if one.startswith("--") else str(tmp_path / one) for one in call]
    out = tmp_path / "out"
    assert main(call) == 0
    table = out / "decided.csv"
    assert list(marks(out, "decided.csv")) == ["Red_12"]
    table.write_text(table.read_text().replace(f"{JACOBIAN},,", f"{JACOBIAN},2,"))
    assert main(call) == 0
    points = {"Ada_1007": "1", "Ben_8": "2", "Cy_9": "2", "Zoe_12": ""}
    assert {name: row["points"] for name, row in marks(out).items()} == points
    sheet = (out / "moodle.csv").read_text().splitlines()
    assert {*sheet[1:]} == {"Participant 1007,1,", "Participant 8,2,", "Participant 9,2,"}
    with zipfile.ZipFile(out / "feedback_moodle.zip") as zipped:
        assert {name.split("_")[1] for name in zipped.namelist()} == {"1007", "8", "9"}
        assert "1 day late" in zipped.read("Ada_1007_assignsubmission_file_/feedback.md").decode()
    of_the_class = (out / "class.md").read_text()
    assert "2 submissions" in of_the_class and "perhaps under another name" not in of_the_class


@pytest.mark.parametrize(
    ("text", "shared", "absent"),
    [
        ("student,extension,group\nAda_1,,x\nZoe,,x\nYan,,y\n", {"Ada_1": ["Ada_1", "Zoe"]}, ["Yan"]),
        ("student,group\nZoe,x\nBen Oh,x\n", {"Ben Oh_3": ["Zoe", "Ben Oh_3"]}, []),
        ("student,group\nAda_1,x\nAda_2,x\nZoe,x\n", {}, ["Zoe"]),
        ("student,extension,section\nAda_1,,x\nZoe,,x\n", {}, ["Zoe"]),
        ("Student,ID,group\nOne,1,x\nTwo,7,x\n", {"Ada_1": ["Ada_1", "Two_7"]}, []),
    ],
)
def test_who_is_in_a_group_has_what_its_only_one_handed_in(tmp_path, text, shared, absent):
    (tmp_path / "roster.csv").write_text(text)
    roster = read_roster(tmp_path / "roster.csv", DUE, CLASS)
    assert (roster.shared, roster.absent) == (shared, absent)


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        ("2027-02-28T10:00Z", f"2027-02-28T10:00Z is before the due date, {DUE}"),
        ("a@b.org", "expected a time such as 2027-03-01T18:05+01:00, got 'a@b.org' (an extension may also be a number"),
    ],
)
def test_an_extension_that_is_none_is_named(tmp_path, extension, message):
    path = tmp_path / "roster.csv"
    path.write_text(f"student,extension\nBen Oh,{extension}\n")
    with pytest.raises(ValueError, match=re.escape(f"roster.csv, line 2: {message}")):
        read_roster(path, DUE, CLASS)
    with pytest.raises(ValueError, match=r"line 2: an extension of what\? This assignment has no due date"):
        read_roster(path, None, CLASS)


def test_days_more_may_be_a_half_however_it_is_written(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text('student,extension\nBen Oh,"0,5"\nAda_1,1.5\n')
    assert read_roster(path, DUE, CLASS).due == {
        "Ben Oh_3": "2027-03-02T06:00:00+01:00", "Ada_1": "2027-03-03T06:00:00+01:00",
    }  # fmt: skip
