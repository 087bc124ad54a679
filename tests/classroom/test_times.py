"""When students handed in: names and times are taken as people write them, and an error names its line."""

import re

import pytest

from attention_classroom.times import read_times

DUE = "2027-03-01T18:00+01:00"
CLASS = ["Fay Late_1007", "Ada_1", "Ada_2", "byronada_77", "=x\nwith a newline"]


@pytest.fixture
def times(tmp_path):
    def read(*lines, due=DUE, students=CLASS):
        path = tmp_path / "times.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return read_times(path, due, students)

    return read


def test_students_are_named_in_full_or_without_the_number_of_their_export(times):
    when = "2027-03-01T18:05:00+01:00"
    lines = [f"{name},{when}" for name in ("Fay Late", "Ada_2", "byronada", "'=x with a newline")]
    found, _ = times("student,time", *lines)
    assert found == dict.fromkeys(["Fay Late_1007", "Ada_2", "byronada_77", "=x\nwith a newline"], when)


def test_who_has_no_time_is_named(times):
    lines = ["Ada_1,", *(f"{name},2027-03-01T10:00Z" for name in ("Ada_2", "Fay Late", "byronada"))]
    assert times(*lines)[1] == ["There is no time of Ada_1, '=x with a newline: counted as in time."]


def test_a_time_without_a_zone_is_taken_in_that_of_the_due_date(times):
    found, remarks = times("Ada_1,2027-03-02 09:00", "Ada_2,2027-03-02T09:00Z", students=["Ada_1", "Ada_2"])
    assert found == {"Ada_1": "2027-03-02T09:00:00+01:00", "Ada_2": "2027-03-02T09:00:00+00:00"}
    assert remarks == ["Times without a zone (1) were taken in that of the due date, UTC+01:00."]
    assert times("Ada_1,2027-03-02 09:00", due="2027-03-01T18:00", students=["Ada_1"])[1] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Ada,2027-03-01T10:00Z", "'Ada' may be any of ['Ada_1', 'Ada_2']: write which"),
        ("Bob,2027-03-01T10:00Z", "there is no submission of 'Bob'; there are ["),
        ("Ada_1,1.3.2027", "expected a time such as 2027-03-01T18:05+01:00, got '1.3.2027'"),
        ("Ada_1,2027-03-01", "expected a time such as 2027-03-01T18:05+01:00, got '2027-03-01'"),
        ("Ada_1", "expected a student and a time such as Ada,2027-03-01T18:05+01:00, got 'Ada_1'"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(times, line, message):
    with pytest.raises(ValueError, match=re.escape(f"times.csv, line 2: {message}")):
        times("student,time", line)


def test_a_zone_that_the_due_date_lacks_is_told(times):
    with pytest.raises(ValueError, match=r"line 1: 2027-03-01T10:00Z has a time zone, and the due date has none"):
        times("Ada_1,2027-03-01T10:00Z", due="2027-03-01T18:00")


def test_two_times_of_one_student_are_refused_and_the_same_one_twice_is_none(times):
    assert times("Ada_1,2027-03-01T10:00Z", "Ada_1,2027-03-01T10:00Z")[0] == {"Ada_1": "2027-03-01T10:00:00+00:00"}
    with pytest.raises(ValueError, match=r"times.csv, line 2: Ada_1 has two times, 2027-03-01T10:00:00\+00:00 and "):
        times("Ada_1,2027-03-01T10:00Z", "Ada_1,2027-03-03T10:00Z")


def test_a_table_may_come_from_a_spreadsheet_that_writes_semicolons_or_another_encoding(tmp_path, times):
    assert times("\ufeffstudent;time", "Ada_1;2027-03-01T10:00Z")[0] == {"Ada_1": "2027-03-01T10:00:00+00:00"}
    (tmp_path / "excel.csv").write_text("M\u00fcller,2027-03-01T10:00Z\n", encoding="cp1252")
    with pytest.raises(ValueError, match=r"excel\.csv must be CSV in UTF-8"):
        read_times(tmp_path / "excel.csv", DUE, ["M\u00fcller"])


def test_names_are_the_same_however_a_system_writes_their_accents_and_a_student_may_be_called_student(times):
    composed, apart = "M\u00fcller_2", "Mu\u0308ller_2"
    assert times(f"{composed},2027-03-01T10:00Z", students=[apart])[0] == {apart: "2027-03-01T10:00:00+00:00"}
    assert times("student,time", "student,2027-03-01T10:00Z", students=["student"])[0].keys() == {"student"}
