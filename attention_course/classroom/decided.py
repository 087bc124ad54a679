"""What an instructor decides about answers: a table beside the marks, filled in by hand and kept by each run."""

import csv
import math
from collections.abc import Collection
from pathlib import Path

from attention_course.classroom.assignment import Assignment
from attention_course.classroom.grading import LOOK, write_whole
from attention_course.classroom.reports import table
from attention_course.classroom.times import named_student

HEAD = ["student", "exercise", "points", "of", "grade says"]


def read_decided(path: Path, assignment: Assignment, students: Collection[str]) -> dict[tuple[str, str], float]:
    """The points by student and exercise; none where there is no such table yet.

    Args:
        path: The table that `write_decided` wrote; what stands behind the points of a line is not read.
        assignment: What was assigned.
        students: All who handed in.

    Raises:
        ValueError: If a line names nobody who handed in, no exercise that counts, or points that it cannot earn; the
            message names the line.
    """
    if not path.exists():
        return {}
    decided, worth = {}, {task.exercise: task.points for task in assignment.tasks}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if row[:1] == HEAD[:1] or not any(row):
                continue
            if len(row) < 3:
                raise ValueError(f"{where}: expected a student, an exercise and points, got {','.join(row)!r}")
            student, exercise, points = row[0], row[1].strip(), row[2].strip()
            if not points:
                continue
            if exercise not in worth:
                raise ValueError(f"{where}: exercise must be one of {', '.join(worth)}, got {exercise!r}")
            decided[named_student(student, students, where), exercise] = _points(points, worth[exercise], where)
    return decided


def _points(text, most, where):
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not 0 <= points <= most:
        raise ValueError(f"{where}: points must be a number from 0 to {most:g}, got {text!r}")
    return points


def decide(results: list[dict], decided: dict[tuple[str, str], float]) -> list[dict]:
    """The results, where the entry of what was decided has `"decided"`, its points."""

    def entry_of(student, exercise, entry):
        points = decided.get((student, exercise))
        return entry if points is None else entry | {"decided": points}

    return [
        one | {"tasks": {name: entry_of(one["student"], name, entry) for name, entry in one["tasks"].items()}}
        for one in results
    ]


def write_decided(assignment: Assignment, results: list[dict], path: Path) -> int:
    """Write a line for each answer that was decided, and for each that is to be looked at; returns how many these are.

    Args:
        assignment: What was assigned.
        results: Of each student, as `decide` gives them.
        path: The table, in which the points can be filled in.
    """
    rows = [
        [result["student"], task.exercise, _filled_in(entry), f"{task.points:g}", _said(entry)]
        for result in results
        for task in assignment.tasks
        if "decided" in (entry := result["tasks"][task.exercise]) or entry["status"] == LOOK
    ]
    write_whole(path, table([HEAD, *rows]))
    return sum(not points for _, _, points, *_ in rows)


def _filled_in(entry):
    return f"{entry['decided']:g}" if "decided" in entry else ""


def _said(entry):
    return f"{entry['status']}: {entry['message']}"
