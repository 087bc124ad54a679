"""The class as its list has it: who handed in nothing, who is not on the list, and who has more time."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.downloads import read_download
from attention_classroom.judging import ABSENT, entry
from attention_classroom.tables import harmless, lines, named
from attention_classroom.times import time_of
from attention_course.exercises import Verdict

DAYS = re.compile(r"\d+([.,]\d+)?")


@dataclass(frozen=True)
class Roster:
    """What a list of the class says.

    Attributes:
        absent: Who handed in nothing, in the order of the list.
        due: By student who has more time, when it ends, in ISO 8601.
        remarks: What to say about it.
    """

    absent: list[str] = field(default_factory=list)
    due: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def read_roster(path: Path, due: str | None, students: Collection[str]) -> Roster:
    """Read a list of the class.

    Args:
        path: A table of students, named in full or without the number of an export, and, where one has more time, in
            the next column how many days more, or until when. Or a grading worksheet of Moodle or a gradebook of
            Canvas, with a column `extension` where one has.
        due: The date and time that hold for all others.
        students: All who handed in.

    Raises:
        ValueError: If a line may mean several students, or the same as a line before, or if an extension is none; the
            message names it.
    """
    roster, found = Roster(), {}
    sheet = read_download(path, students)
    rows = lines(path, ["student"])
    if sheet is not None:
        rows = ((where, [student, more]) for where, student, _, more in sheet)
    for where, row in rows:
        name = " ".join(row[0].split())
        meant = named(name, students) or [name]
        if len(meant) > 1:
            raise ValueError(f"{where}: {name!r} may be any of {meant}: write which")
        if meant[0] in found:
            raise ValueError(f"{where}: {name!r} stands in {found[meant[0]]} already")
        found[meant[0]] = where.rpartition(", ")[2]
        if meant[0] not in students:
            roster.absent.append(name)
        if extension := "".join(row[1:2]).strip():
            if due is None:
                raise ValueError(f"{where}: an extension of what? This assignment has no due date")
            roster.due[meant[0]] = _later(extension, due, where)
    others = ", ".join(harmless(student) for student in students if student not in found)
    if others:
        roster.remarks.append(f"Handed in, and not in {path}, perhaps under another name: {others}.")
    return roster


def _later(text, due, where):
    """When the time of somebody ends who was given an extension."""
    end = datetime.fromisoformat(due)
    if DAYS.fullmatch(text):
        return (end + timedelta(days=float(text.replace(",", ".")))).isoformat()
    try:
        own, _ = time_of(text, end.tzinfo, where)
    except ValueError as error:
        raise ValueError(f"{error} (an extension may also be a number of days)") from None
    if own < end:
        raise ValueError(f"{where}: {text} is before the due date, {due}")
    return own.isoformat()


def absent_result(assignment: Assignment, student: str) -> dict:
    """In the place of what `grade_one` gives, of a student who handed in nothing."""
    nothing = entry(Verdict("", ABSENT, "Nothing was handed in."))
    tasks = {task.exercise: nothing for task in assignment.tasks}
    return {"student": student, "notes": ["absent"], "lacks": [], "tasks": tasks}
