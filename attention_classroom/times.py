"""When each student handed in, from lines of a name and a time as people write them."""

from collections.abc import Collection
from datetime import date, datetime, tzinfo
from pathlib import Path

from attention_classroom.downloads import read_download
from attention_classroom.tables import harmless, lines, named, student_of

FORM = "2027-03-01T18:05+01:00"


def moment(text: str) -> datetime:
    """A date and a time of day in ISO 8601.

    Raises:
        ValueError: If it is none; a date alone would stand for its first moment, which nobody means.
    """
    try:
        date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)
    raise ValueError("there is no time of day")


def read_times(path: Path, due: str, students: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """The times in ISO 8601 by student, and remarks: what was assumed, and who is not there.

    Args:
        path: A table of students, named in full or without the number of their export, and times. A student without a
            time is as one who is not there. Or a grading worksheet of Moodle.
        due: The date and time that they are held against. A time without a zone is taken in this one's.
        students: All who handed in.

    Raises:
        ValueError: If a line is not what is said here; the message names it.
    """
    times, without_zone = {}, 0
    sheet = read_download(path, students)
    rows = lines(path, ["student", "time"])
    if sheet is not None:  # it lists who handed in nothing, too, and each member of a group
        rows = (
            (where, [found, time])
            for where, student, time, _, group in sheet
            for found in ([student] if student in students else named(group, students))
        )
    for where, row in rows:
        if len(row) != 2:
            raise ValueError(f"{where}: expected a student and a time such as Ada,{FORM}, got {','.join(row)!r}")
        student = student_of(row[0], students, where)
        if row[1].strip():
            when, assumed = time_of(row[1].strip(), datetime.fromisoformat(due).tzinfo, where)
            if times.get(student, when.isoformat()) != when.isoformat():
                raise ValueError(f"{where}: {student} has two times, {times[student]} and {when.isoformat()}")
            times[student] = when.isoformat()
            without_zone += assumed
    remarks = []
    if without_zone:
        zone = datetime.fromisoformat(due).tzname()
        remarks.append(f"Times without a zone ({without_zone}) were taken in that of the due date, {zone}.")
    if missing := [harmless(student) for student in students if student not in times]:
        remarks.append(f"There is no time of {', '.join(missing)}: counted as in time.")
    return times, remarks


def time_of(text: str, zone: tzinfo | None, where: str) -> tuple[datetime, bool]:
    """The time, and whether its zone was assumed.

    Args:
        text: In ISO 8601.
        zone: That of the due date.
        where: The text stands, for messages.

    Raises:
        ValueError: If it is no time, or has a zone where the due date has none.
    """
    try:
        when = moment(text)
    except ValueError:
        raise ValueError(f"{where}: expected a time such as {FORM}, got {text!r}") from None
    if when.tzinfo is not None and zone is None:
        raise ValueError(f"{where}: {text} has a time zone, and the due date has none: leave it out")
    assumed = when.tzinfo is None and zone is not None
    return (when.replace(tzinfo=zone) if assumed else when), assumed
