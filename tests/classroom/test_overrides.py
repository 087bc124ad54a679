"""What an instructor decides is kept by later runs and counts everywhere; a line that cannot be read is named."""

import csv
import re

import pytest
from test_grade import CHECK, JACOBIAN, ONE, RIGHT, START, WRONG, made, notebook, result_of

from attention_classroom import grade
from attention_classroom.overrides import Decided, read_decided, write_decided

pytestmark = pytest.mark.usefixtures("in_this_thread")
UNDEFINED = f"def answer(x):\n    return from_file(x)\n\n{CHECK}"
HEAD = "student,exercise,points,of,grade says,comment\n"


def rows_of(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def graded(tmp_path):
    """A class of three, one of whom has an answer to look at, a day late; gives the command that grades it."""
    made(*ONE.tasks, due="2027-03-01T18:00+01:00", late_per_day=0.5).save(tmp_path / "assignment.json")
    for name, answer in {"Ada_1": f"{RIGHT}\n{CHECK}", "Eve_2": UNDEFINED, "Pia_3": f"{WRONG}\n{CHECK}"}.items():
        notebook(tmp_path / "class" / f"{name}.ipynb", START, answer)
    times = tmp_path / "times.csv"
    times.write_text("Ada,2027-03-01T10:00+01:00\nPia,2027-03-01T10:00+01:00\nEve,2027-03-02T10:00+01:00\n")

    def run():
        call = [tmp_path / "assignment.json", tmp_path / "class", "--out", tmp_path / "out", "--times", times]
        return grade.main([str(argument) for argument in call])

    return run


def test_what_is_to_be_looked_at_stands_in_a_table_whose_points_count_from_the_next_run_on(tmp_path, graded, capsys):
    out = tmp_path / "out"
    assert graded() == 0
    told = f"Answers without a verdict: 1. Fill in their points in {out / 'decided.csv'}, and run this again."
    assert told in capsys.readouterr().out and told in (out / "class.md").read_text()
    (line,) = rows_of(out / "decided.csv")
    assert (line["student"], line["exercise"], line["points"], line["of"]) == ("Eve_2", JACOBIAN, "", "2")
    assert line["grade says"].startswith("look yourself: ") and "from_file" in line["grade says"]

    table = out / "decided.csv"
    table.write_text(table.read_text().replace(f"{JACOBIAN},,", f"{JACOBIAN},1.5,") + f"Pia,{JACOBIAN},1\n")
    for _ in range(2):  # the second time from what the first has written
        assert graded() == 0 and "without a verdict" not in capsys.readouterr().out
        assert [(row["points"], row[JACOBIAN], row["to look at"]) for row in rows_of(out / "grades.csv")] == [
            ("2", "passed", "0"),
            ("0.75", "decided", "0"),  # a day late
            ("1", "decided", "0"),
        ]
        assert [row["points"] for row in rows_of(table)] == ["1.5", "1"]
    assert "Eve,2,,,,0.75" in (out / "canvas.csv").read_text()
    assert "Participant 3,1," in (out / "moodle.csv").read_text()
    (page,) = (out / "feedback").glob("Eve_2-*.md")
    assert f"## {JACOBIAN}: 1.5 of 2, as your instructor decided" in page.read_text()
    assert "from_file" not in page.read_text()


def test_a_decision_may_take_points_away_and_stays_when_the_answer_changes(tmp_path, graded):
    out = tmp_path / "out"
    out.mkdir()
    (out / "decided.csv").write_text(f"{HEAD}Ada,{JACOBIAN},0\n")
    assert graded() == 0
    notebook(tmp_path / "class" / "Ada_1.ipynb", START, f"{WRONG}\n{CHECK}")
    assert graded() == 0
    assert {row["student"]: row["points"] for row in rows_of(out / "decided.csv")} == {"Ada_1": "0", "Eve_2": ""}
    assert [row["points"] for row in rows_of(out / "grades.csv")] == ["0", "", "0"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (f"Ada,{JACOBIAN}", f"expected a student, an exercise and points, got 'Ada,{JACOBIAN}'"),
        (f"Cy,{JACOBIAN},1", "'Cy' may be any of ['Cy_1', 'Cy_2']: write which"),
        (f"Ada,{JACOBIAN},3", "points must be a number from 0 to 2, got '3'"),
        (f"Ada,{JACOBIAN},-1", "points must be a number from 0 to 2, got '-1'"),
        (f"Ada,{JACOBIAN},nan", "points must be a number from 0 to 2, got 'nan'"),
        (f"Ada,{JACOBIAN},0,5", "'5' stands behind the points of an exercise that is worth 2: write"),
        (f"Ada,{JACOBIAN},1,5,2,look yourself", "'5' stands behind the points of an exercise that is worth 2: write"),
        (f"Ada,{JACOBIAN},full", "points must be a number from 0 to 2, got 'full'"),
        (f"Ada_1,{JACOBIAN},2\nAda,{JACOBIAN},0", f"Ada_1 {JACOBIAN} has 2 points in a line before"),
        (f"Ada_1,{JACOBIAN},,,,one\nAda,{JACOBIAN},,,,two", f"Ada_1 {JACOBIAN} has another comment in a line before"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, lines, message):
    path = tmp_path / "decided.csv"
    path.write_text(f"{HEAD}{lines}\n")
    with pytest.raises(ValueError, match=re.escape(f"decided.csv, line {2 + lines.count(chr(10))}: {message}")):
        read_decided(path, ONE, ["Ada_1", "Cy_1", "Cy_2"])


def test_a_table_that_is_not_there_or_not_filled_in_decides_nothing(tmp_path):
    path = tmp_path / "decided.csv"
    assert read_decided(path, ONE, ["Ada_1"]) == Decided()
    path.write_text(f"\ufeff{HEAD}\nAda,{JACOBIAN},,2,look yourself\nAda_1,{JACOBIAN}, 0.5 ,2,\n", encoding="utf-8")
    assert read_decided(path, ONE, ["Ada_1"]) == Decided({("Ada_1", JACOBIAN): 0.5})
    path.write_text(f"student;exercise;points\nAda_1;{JACOBIAN};0,5\n")  # as where numbers have a decimal comma
    assert read_decided(path, ONE, ["Ada_1"]) == Decided({("Ada_1", JACOBIAN): 0.5})


@pytest.mark.parametrize("rest", ["", ",", ",2", ",2.0", ',"2,00"', ",2,look yourself", ",my words"])
def test_what_an_exercise_is_worth_may_stand_behind_the_points(tmp_path, rest):
    path = tmp_path / "decided.csv"
    path.write_text(f"{HEAD}Ada_1,{JACOBIAN},0.5{rest}\n")
    assert read_decided(path, ONE, ["Ada_1"]) == Decided({("Ada_1", JACOBIAN): 0.5})


def test_a_comment_without_points_leaves_them_and_reaches_its_student(tmp_path, graded, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "decided.csv").write_text(f"{HEAD}Pia,{JACOBIAN},,,,'- look at the sums\nGone_9,{JACOBIAN},,,,Where?\n")
    for _ in range(2):
        assert graded() == 0 and "Answers without a verdict: 1." in capsys.readouterr().out
    assert [(row["student"], row["points"], row["comment"]) for row in rows_of(out / "decided.csv")] == [
        ("Eve_2", "", ""),
        ("Pia_3", "", "'- look at the sums"),
        ("Gone_9", "", "Where?"),
    ]
    (page,) = (out / "feedback").glob("Pia_3-*.md")
    assert f"## {JACOBIAN}: wrong, 0 of 2" in page.read_text()
    assert page.read_text().endswith("**Your instructor:** - look at the sums\n")


def test_decisions_on_who_or_what_is_gone_are_told_and_kept(tmp_path, graded, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "decided.csv").write_text(f"{HEAD}Gone_9,{JACOBIAN},1\nAda,scale.divisor,0.5\n")
    for _ in range(2):
        assert graded() == 0
        told = (
            f"these are of nobody who handed in, or of no exercise that counts: Gone_9 {JACOBIAN}, Ada scale.divisor."
        )
        assert told in capsys.readouterr().out
    kept = [(row["student"], row["exercise"], row["points"]) for row in rows_of(out / "decided.csv")]
    assert kept == [("Eve_2", JACOBIAN, ""), ("Gone_9", JACOBIAN, "1"), ("Ada", "scale.divisor", "0.5")]


def test_what_is_filled_in_while_the_grader_runs_counts(tmp_path, graded, monkeypatch):
    out = tmp_path / "out"
    assert graded() == 0
    table, run = out / "decided.csv", grade.grade_all

    def meanwhile(*arguments):
        results = run(*arguments)
        table.write_text(table.read_text().replace(f"{JACOBIAN},,", f"{JACOBIAN},2,"))
        return results

    monkeypatch.setattr(grade, "grade_all", meanwhile)
    assert graded() == 0
    assert [row["points"] for row in rows_of(table)] == ["2"]


def test_an_answer_that_was_stopped_may_be_decided(tmp_path):
    write_decided(ONE, [result_of("Di", status="stopped")], Decided(), tmp_path / "decided.csv")
    assert [(row["student"], row["points"]) for row in rows_of(tmp_path / "decided.csv")] == [("Di", "")]


def test_a_notebook_that_cannot_be_read_may_be_decided(tmp_path, graded):
    out = tmp_path / "out"
    (tmp_path / "class" / "Pia_3.ipynb").write_bytes(b"%PDF-1.7")
    assert graded() == 0
    assert rows_of(out / "grades.csv")[2]["to look at"] == "1"
    table = out / "decided.csv"
    table.write_text(table.read_text() + f"Pia_3,{JACOBIAN},2\n")
    assert graded() == 0
    row = rows_of(out / "grades.csv")[2]
    assert (row["points"], row["to look at"], row[JACOBIAN]) == ("2", "0", "decided")
    (page,) = (out / "feedback").glob("Pia_3-*.md")
    assert f"## {JACOBIAN}: 2 of 2, as your instructor decided" in page.read_text()
    assert "1 decided" in (out / "class.md").read_text() and "not found" not in (out / "class.md").read_text()
