"""Points as Canvas's gradebook and a Moodle assignment import them, after the code of both that reads it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.grading import write_whole
from attention_classroom.handed_in import platforms
from attention_classroom.tables import NUMBER, as_typed, lines, table

CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]  # then come the points, under a title
MOODLE = ["Identifier", "Grade", "Last modified (grade)"]


def write_gradebooks(
    assignment: Assignment, points: Sequence[tuple[str, str]], handed_in: Mapping[str, list[Path]], out: Path
) -> list[str]:
    """Write `canvas.csv` or `moodle.csv`, as what was handed in is named; returns what to say about that.

    Where the names are of neither and have numbers, they may come from either, and both are written.

    Args:
        assignment: What was assigned.
        points: Students and their points, as `grades.csv` has them.
        handed_in: Notebooks by student.
        out: The folder. In its `canvas.csv` the title of the points stays.

    Raises:
        ValueError: If `canvas.csv` is there and cannot be read; then nothing is written.
    """
    numbered = any(NUMBER.search(student) for student, _ in points)
    asked = platforms(handed_in) or ({"canvas", "moodle"} if numbered else set())
    canvas, usual = out / "canvas.csv", " ".join(assignment.lessons)
    title = _title(canvas) or usual
    rows = {"canvas": _for_canvas(assignment, title, points), "moodle": _for_moodle(points)}
    for name in rows:
        if name in asked:
            write_whole(out / f"{name}.csv", table(rows[name]))
        else:  # what an earlier run wrote has its points
            (out / f"{name}.csv").unlink(missing_ok=True)
    if "canvas" not in asked or title == usual:
        return []
    return [f"The points in {canvas} stand under {title!r}, as they did before this run."]


def _title(path):
    """What stands over the points, since an instructor may have put it there."""
    _, head = next(lines(path, []), ("", [])) if path.exists() else ("", [])
    return as_typed(head[-1]) if head[:-1] == CANVAS else ""


def _for_canvas(assignment, title, points):
    """A student is known by `ID`, an assignment by its title."""
    total = sum(task.points for task in assignment.tasks)
    students = ([*_name_and_number(student), "", "", "", number] for student, number in points)
    return [[*CANVAS, title], ["Points Possible", "", "", "", "", f"{total:g}"], *students]


def _for_moodle(points):
    """A student is known by the number of their folder."""
    numbered = ((_name_and_number(student)[1], number) for student, number in points)
    return [MOODLE, *([f"Participant {participant}", number, ""] for participant, number in numbered if participant)]


def _name_and_number(student):
    """Of what a file or folder of Canvas or Moodle is called; without a number for any other."""
    name, _, number = student.rpartition("_")
    return (name, number) if number.isdigit() else (student, "")
