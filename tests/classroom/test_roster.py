"""Absent, undecided and wrong are three things in all tables, and a line of the class that cannot be read is named."""

import re

import pytest
from test_grade import CHECK, JACOBIAN, ONE, RIGHT, START, WRONG, marks, notebook
from test_overrides import UNDEFINED

from attention_classroom.grade import main
from attention_classroom.roster import read_roster

pytestmark = pytest.mark.usefixtures("in_this_thread")
CLASS = ["Ada_1", "Ada_2", "Ben Oh_3"]


@pytest.fixture
def graded(tmp_path):
    """A class of four, of whom one is absent and one undecided; gives the command that grades it."""
    ONE.save(tmp_path / "assignment.json")
    for name, answer in {"Ada_1": RIGHT, "Eve_2": None, "Pia_3": WRONG, "Guest_9": RIGHT}.items():
        notebook(tmp_path / "class" / f"{name}.ipynb", START, f"{answer}\n{CHECK}" if answer else UNDEFINED)
    (tmp_path / "roster.csv").write_text("student\nAda\nZoe Absent\nEve_2\nPia\n")
    call = ["assignment.json", "class", "--out", "out", "--roster", "roster.csv"]
    return lambda: main([one if one.startswith("--") else str(tmp_path / one) for one in call])


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
        "Without points in all tables until their answers are decided: Eve_2.",
        "Absent, without points in grades.csv and without a line in canvas.csv and moodle.csv: Zoe Absent.",
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
        read_roster(path, CLASS)
