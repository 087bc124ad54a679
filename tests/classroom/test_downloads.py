"""Times and absent students from Moodle's grading worksheet and Canvas's gradebook, as their code writes them."""

import re

import pytest

from attention_classroom.downloads import read_download
from attention_classroom.roster import read_roster
from attention_classroom.times import read_times

DUE = "2027-03-01T18:00+01:00"
STUDENTS = ["Ada Löf_1007", "Participant_8"]
HEAD = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,"
HEAD += "Last modified (submission),Last modified (grade),Feedback comments\n"
ADA = 'Participant 1007,"Ada Löf",a@b.org,Submitted for grading,,10.00,Yes,"Monday, 1 March 2027, 6:05\u202fPM",-,\n'
BEN = 'Participant 8,Ben Oh,b@b.org,Submitted,,10.00,Yes,"Wednesday, 03 March 2027, 12:30 AM",-,\n'
ZOE = "Participant 9,Zoe Ab,z@b.org,No submission,,10.00,Yes,-,-,\n"


@pytest.fixture
def worksheet(tmp_path):
    def written(*parts):
        path = tmp_path / "worksheet.csv"
        path.write_text("\ufeff" + "".join(parts), encoding="utf-8")
        return path

    return written


def test_times_are_read_by_number_in_the_zone_of_the_due_date(worksheet):
    times, remarks = read_times(worksheet(HEAD, ADA, BEN, ZOE), DUE, STUDENTS)
    assert times == {STUDENTS[0]: "2027-03-01T18:05:00+01:00", STUDENTS[1]: "2027-03-03T00:30:00+01:00"}
    assert remarks == ["Times without a zone (2) were taken in that of the due date, UTC+01:00."]


def test_who_handed_in_nothing_is_absent(worksheet):
    roster = read_roster(worksheet(HEAD, ADA, ZOE, BEN), DUE, STUDENTS)
    assert (roster.absent, roster.due, roster.remarks) == (["Zoe Ab_9"], {}, [])


@pytest.mark.parametrize("number", ["1007", "9"])
def test_a_column_may_give_somebody_more_time_in_either(worksheet, number):
    """It was read from a list of one's own only, and left out here without a word."""
    students = [f"lovelaceada_{number}"]
    canvas = f'Student,ID,Section,extension\n"Lovelace, Ada",{number},A,2\n'
    moodle = f"{HEAD[:-1]},extension\n{ADA[:-1]},2\n".replace("1007", number)
    for text in (canvas, moodle):
        assert read_roster(worksheet(text), DUE, students).due == {students[0]: "2027-03-03T18:00:00+01:00"}


def test_canvas_has_the_class_too_and_lines_that_are_of_nobody(worksheet):
    head = "Student,ID,SIS Login ID,Section,Week 3 (55)\n,,,,Manual Posting\n    Points Possible,,,,2\n"
    lines = '"Lovelace, Ada",77,ada,A,\n"Oh, Ben",78,ben,B,\n"Student, Test",79,x,A,\n'
    roster = read_roster(worksheet(head, lines), DUE, ["lovelaceada_77"])
    assert (roster.absent, roster.remarks) == (["Oh, Ben_78"], [])


def test_another_table_is_neither(worksheet):
    assert read_download(worksheet("student,time\n"), STUDENTS) is None
    assert read_download(worksheet("student,time\nAda Löf,2027-03-01T10:00Z\n"), STUDENTS) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (ADA.replace("Monday", "Montag"), "expected a time as Moodle has it in English, such as Monday, 1 March 2027"),
        (ADA.replace(" 1007", ""), "expected a participant such as 'Participant 1007', got 'Participant'"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(worksheet, line, message):
    with pytest.raises(ValueError, match=re.escape(f"worksheet.csv, line 2: {message}")):
        read_times(worksheet(HEAD, line), DUE, STUDENTS)
