"""Tables that people and their spreadsheets write and read: names of students, one to a line."""

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

FOR_EXCEL = "\ufeff"  # without this mark in front it takes UTF-8 for something else
NUMBER = re.compile(r"_\d+$")  # what Moodle and Canvas add to a name


def table(rows: list[list]) -> str:
    """As CSV that no spreadsheet takes for formulas."""
    text = io.StringIO()
    csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def harmless(cell: object) -> str:
    """What a table says for it: a spreadsheet takes a text that begins with one of these as a formula."""
    text = " ".join(str(cell).split())
    return "'" + text if text[:1] in tuple("=+-@") else text


def as_typed(cell: str) -> str:
    """What `harmless` was given, but for the spaces."""
    text = " ".join(cell.split())
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@") else text


def lines(path: Path, head: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Where each line of a table stands, for messages, and what it says; empty lines and the head are left out.

    Args:
        path: The table, with commas or, as spreadsheets write in countries with decimal commas, semicolons.
        head: How its first line may begin; where nothing is said of it, it is given too.

    Raises:
        ValueError: If it is no CSV in UTF-8.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        semicolons = ";" in text.partition("\n")[0]
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=";" if semicolons else ",")
        for row in rows:
            if any(row) and not (head and row[: len(head)] == head):
                yield f"{path}, line {rows.line_num}", row
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} must be CSV in UTF-8 (in Excel: save as 'CSV UTF-8'): {error}") from None


def named(name: str, students: Collection[str]) -> list[str]:
    """Who of those who handed in may be meant: named in full, as a table writes it, or without an export's number."""
    if name in students:
        return [name]
    name = _plain(name)
    exact = [one for one in students if name == _plain(one)]
    return exact or [one for one in students if name == NUMBER.sub("", _plain(one))]


def student_of(name: str, students: Collection[str], where: str) -> str:
    """The one who is meant.

    Raises:
        ValueError: If nobody is or several are; the message begins with `where`.
    """
    found = named(name, students)
    if len(found) > 1:
        raise ValueError(f"{where}: {name!r} may be any of {found}: write which")
    if not found:
        raise ValueError(f"{where}: there is no submission of {name!r}; there are {sorted(students)[:5]}, …")
    return found[0]


def _plain(name):
    """As a table writes it, with an accent in the same place whatever system the name comes from."""
    return unicodedata.normalize("NFC", harmless(name).removeprefix("'"))
