"""The class as its list has it: who handed in nothing, who is not on the list, who has more time, and the groups."""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.downloads import GROUP, read_download
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
        shared: By what was handed in for a whole group, the students whose it is.
        remarks: What to say about it.
    """

    absent: list[str] = field(default_factory=list)
    due: dict[str, str] = field(default_factory=dict)
    shared: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def of(self, handed_in: str) -> list[str]:
        """Whose it is what was handed in by this name."""
        return self.shared.get(handed_in, [handed_in])


def read_roster(path: Path, due: str | None, students: Collection[str]) -> Roster:
    """Read a list of the class.

    Args:
        path: A table of students, named in full or without the number of an export, and, where one has more time, in
            the next column how many days more, or until when; a column called `group` has the group of each. Or a
            grading worksheet of Moodle or a gradebook of Canvas, with columns `extension` and `group` where needed.
        due: The date and time that hold for all others.
        students: All who handed in.

    Raises:
        ValueError: If a line may mean several students, or the same as a line before, or if an extension is none; the
            message names it.
    """
    roster, found, groups = Roster(), {}, defaultdict(list)
    sheet = read_download(path, students)
    rows = _own(path) if sheet is None else ((where, student, *more) for where, student, _, *more in sheet)
    for where, text, extension, group in rows:
        name = " ".join(text.split())
        meant = named(name, students) or [name]
        if len(meant) > 1:
            raise ValueError(f"{where}: {name!r} may be any of {meant}: write which")
        if meant[0] in found:
            raise ValueError(f"{where}: {name!r} stands in {found[meant[0]]} already")
        found[meant[0]] = where.rpartition(", ")[2]
        if meant[0] not in students:
            roster.absent.append(name)
        if extension:
            if due is None:
                raise ValueError(f"{where}: an extension of what? This assignment has no due date")
            roster.due[meant[0]] = _later(extension, due, where)
        if group:
            groups[group].append(meant[0])
    for group, members in groups.items():
        handed_in = [one for one in members if one in students] or named(group, students)
        if len(handed_in) == 1:  # where several did, each has their own
            roster.shared[handed_in[0]] = members
            roster.absent[:] = [name for name in roster.absent if name not in members]
    known = found | roster.shared
    if others := ", ".join(harmless(student) for student in students if student not in known):
        roster.remarks.append(f"Handed in, and not in {path}, perhaps under another name: {others}.")
    return roster


def _own(path):
    """Where each line of an instructor's own list stands, the student, the extension and the group."""
    _, head = next(lines(path, []), ("", []))
    place = head.index(GROUP) if GROUP in head else None
    for where, row in lines(path, ["student"]):
        group = row.pop(place).strip() if place is not None and place < len(row) else ""
        yield where, row[0], "".join(row[1:2]).strip(), group


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
