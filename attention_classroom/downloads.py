"""Tables as they are downloaded: Moodle's grading worksheet, from a Moodle in English, and Canvas's gradebook.

Both say who is in the class, Moodle's also when each handed in. Students are known by the numbers of their folders or
files.
"""

import re
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from attention_classroom.tables import NUMBER, lines

MOODLE, CANVAS = ("Identifier", "Full name"), ("ID", "Student")  # where the number and the name stand
TIME = "Last modified (submission)"
MORE, GROUP = "extension", "group"  # columns that an instructor adds
TEAM = "Group"  # Moodle's own, where groups hand in
WRITTEN = "%A, %d %B %Y, %I:%M %p"
NOTHING = ("", "-")  # in the place of a time
NOBODY = "Student, Test"  # whom Canvas adds to a class


def read_download(path: Path, students: Collection[str]) -> list[tuple[str, str, str, str, str]] | None:
    """Of each student, where the line stands, the name, the time in ISO 8601 without a zone, extension and group.

    Args:
        path: A table; where it is neither download, nothing is returned.
        students: All who handed in: they are known by the number of their folder. Others get its name, such as
            `"Ada Lovelace_1007"`.

    Raises:
        ValueError: If a line has no number, or a time in another language; the message names it.
    """
    rows = lines(path, ["student"])
    head = next(rows, ("", [""]))[1]
    cells = [(where, dict(zip(head, row, strict=False))) for where, row in rows]
    groups = {_group(row) for _, row in cells}  # one may have the number of somebody else
    students = [one for one in students if NUMBER.sub("", one) not in groups]
    if head[0] == MOODLE[0]:
        return [_of_line(where, row, MOODLE, students) for where, row in cells]
    if head[:2] == [*reversed(CANVAS)]:
        people = ((where, row) for where, row in cells if row.get("ID", "").strip().isdigit())  # and no points possible
        return [_of_line(where, row, CANVAS, students) for where, row in people if row["Student"].strip() != NOBODY]
    return None


def _of_line(where, row, columns, students):
    number = re.search(r"\d+$", row[columns[0]].strip())
    if number is None:
        raise ValueError(f"{where}: expected a participant such as 'Participant 1007', got {row[columns[0]]!r}")
    own = f"{row.get(columns[1]) or 'Participant'}_{number[0]}"
    student = next((one for one in students if one.rpartition("_")[2] == number[0]), own)
    return where, student, _time(row.get(TIME, ""), where), row.get(MORE, "").strip(), _group(row)


def _group(row):
    return (row.get(GROUP) or row.get(TEAM, "")).strip()


def _time(text, where):
    text = " ".join(text.split())
    if text in NOTHING:
        return ""
    try:
        return datetime.strptime(text, WRITTEN).isoformat()
    except ValueError:
        told = "expected a time as Moodle has it in English, such as Monday, 1 March 2027, 6:05 PM"
        raise ValueError(f"{where}: {told}, got {text!r}") from None
