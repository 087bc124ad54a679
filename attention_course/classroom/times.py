"""When each student handed in: lines of a name and a time, as people write them."""

import csv
import re
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from attention_course.classroom.reports import harmless

FORM = "2027-03-01T18:05+01:00"
NUMBER = re.compile(r"(_LATE)?_\d+$")  # what Moodle and Canvas add to a name


def read_times(path: Path, due: str, students: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """The times in ISO 8601 by student, and remarks: what was assumed, and who is not there.

    Args:
        path: A table of students, named in full or without the number of their export, and times. A student without a
            time is as one who is not there.
        due: The date and time that they are held against. A time without a zone is taken in this one's.
        students: All who handed in.

    Raises:
        ValueError: If a line is not what is said here; the message names it.
    """
    times, without_zone = {}, 0
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if not any(row) or row[0] == "student":
                continue
            if len(row) != 2:
                raise ValueError(f"{where}: expected a student and a time such as Ada,{FORM}, got {','.join(row)!r}")
            student = named_student(row[0], students, where)
            if row[1].strip():
                when, assumed = _time(row[1].strip(), datetime.fromisoformat(due).tzinfo, where)
                times[student] = when.isoformat()
                without_zone += assumed
    remarks = []
    if without_zone:
        zone = datetime.fromisoformat(due).tzname()
        remarks.append(f"Times without a zone ({without_zone}) were taken in that of the due date, {zone}.")
    if missing := [harmless(student) for student in students if student not in times]:
        remarks.append(f"There is no time of {', '.join(missing)}: counted as in time.")
    return times, remarks


def named_student(name: str, students: Collection[str], where: str) -> str:
    """Who of those who handed in is meant: named in full, as tables write it, or without the number of an export.

    Raises:
        ValueError: If nobody is or several are; the message begins with `where`.
    """
    if name in students:
        return name
    name = " ".join(name.split())
    found = [one for one in students if name in (harmless(one), NUMBER.sub("", harmless(one)))]
    if len(found) > 1:
        raise ValueError(f"{where}: {name!r} may be any of {found}: write which")
    if not found:
        raise ValueError(f"{where}: there is no submission of {name!r}; there are {sorted(students)[:5]}, …")
    return found[0]


def _time(text, zone, where):
    """The time, and whether its zone was assumed."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{where}: expected a time such as {FORM}, got {text!r}") from None
    if when.tzinfo is not None and zone is None:
        raise ValueError(f"{where}: {text} has a time zone, and the due date has none: leave it out")
    assumed = when.tzinfo is None and zone is not None
    return (when.replace(tzinfo=zone) if assumed else when), assumed
