"""Moodle's grading worksheet, as it is downloaded from a Moodle in English: whom it lists, and when each handed in."""

import re
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from attention_classroom.tables import lines

IDENTIFIER, NAME, TIME = "Identifier", "Full name", "Last modified (submission)"
WRITTEN = "%A, %d %B %Y, %I:%M %p"
NOTHING = ("", "-")  # in the place of a time


def read_worksheet(path: Path, students: Collection[str]) -> list[tuple[str, str, str]] | None:
    """Of each participant, where the line stands, the student, and the time in ISO 8601 without a zone.

    Args:
        path: A table; where it is no worksheet, nothing is returned.
        students: All who handed in: they are known by the number of their folder. Others get its name, such as
            `"Ada Lovelace_1007"`.

    Raises:
        ValueError: If a line has no number, or a time in another language; the message names it.
    """
    rows = lines(path, ["student"])
    head = next(rows, ("", [""]))[1]
    if head[0] != IDENTIFIER:
        return None
    return [_of_line(where, dict(zip(head, row, strict=False)), students) for where, row in rows]


def _of_line(where, row, students):
    number = re.search(r"\d+$", row[IDENTIFIER].strip())
    if number is None:
        raise ValueError(f"{where}: expected a participant such as 'Participant 1007', got {row[IDENTIFIER]!r}")
    own = f"{row.get(NAME) or 'Participant'}_{number[0]}"
    student = next((one for one in students if one.rpartition("_")[2] == number[0]), own)
    return where, student, _time(row.get(TIME, ""), where)


def _time(text, where):
    text = " ".join(text.split())
    if text in NOTHING:
        return ""
    try:
        return datetime.strptime(text, WRITTEN).isoformat()
    except ValueError:
        told = "expected a time as Moodle has it in English, such as Monday, 1 March 2027, 6:05 PM"
        raise ValueError(f"{where}: {told}, got {text!r}") from None
