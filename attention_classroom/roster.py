"""The class as its list has it: who handed in nothing, and who handed in and is not on the list."""

from collections.abc import Collection
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.judging import ABSENT, entry
from attention_classroom.tables import harmless, lines, named
from attention_course.exercises import Verdict


def read_roster(path: Path, students: Collection[str]) -> tuple[list[str], list[str]]:
    """Who is absent, in the order of the table, and what to say about who is not on it.

    Args:
        path: A table whose first column has the class, named in full or without the number of an export.
        students: All who handed in.

    Raises:
        ValueError: If a line may mean several students, or the same as a line before; the message names it.
    """
    absent, found = [], {}
    for where, row in lines(path, ["student"]):
        name = " ".join(row[0].split())
        meant = named(name, students) or [name]
        if len(meant) > 1:
            raise ValueError(f"{where}: {name!r} may be any of {meant}: write which")
        if meant[0] in found:
            raise ValueError(f"{where}: {name!r} stands in {found[meant[0]]} already")
        found[meant[0]] = where.rpartition(", ")[2]
        if meant[0] not in students:
            absent.append(name)
    others = ", ".join(harmless(student) for student in students if student not in found)
    return absent, [f"Handed in, and not in {path}, perhaps under another name: {others}."] if others else []


def absent_result(assignment: Assignment, student: str) -> dict:
    """In the place of what `grade_one` gives, of a student who handed in nothing."""
    nothing = entry(Verdict("", ABSENT, "Nothing was handed in."))
    tasks = {task.exercise: nothing for task in assignment.tasks}
    return {"student": student, "notes": ["absent"], "lacks": [], "tasks": tasks}
