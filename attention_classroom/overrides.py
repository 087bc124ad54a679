"""What an instructor decides about answers: a table beside the marks, filled in by hand and kept by each run."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.grading import write_whole
from attention_classroom.judging import UNJUDGED
from attention_classroom.tables import FOR_EXCEL, as_typed, lines, named, student_of, table

HEAD = ["student", "exercise", "points", "of", "grade says", "comment"]


@dataclass(frozen=True)
class Decided:
    """What stands in the table.

    Attributes:
        points: By student and exercise.
        comments: The same; each reaches its student.
        others: Lines of nobody who handed in, or of no exercise that counts: they are kept as they are.
    """

    points: dict[tuple[str, str], float] = field(default_factory=dict)
    comments: dict[tuple[str, str], str] = field(default_factory=dict)
    others: list[list[str]] = field(default_factory=list)


def read_decided(path: Path, assignment: Assignment, students: Collection[str]) -> Decided:
    """What was filled in; nothing where there is no such table yet.

    Args:
        path: The table that `write_decided` wrote. Behind the points of a line may stand what its exercise is worth;
            then comes what `grade` said, which is not read, and a comment.
        assignment: What was assigned.
        students: All who handed in.

    Raises:
        ValueError: If a line may mean several students, gives points that its exercise cannot earn, or others than a
            line before, or if another number stands behind them; the message names it.
    """
    decided, worth = Decided(), {task.exercise: task.points for task in assignment.tasks}
    for where, row in lines(path, HEAD[:2]) if path.exists() else ():
        if len(row) < 3:
            raise ValueError(f"{where}: expected a student, an exercise and points, got {','.join(row)!r}")
        name, exercise, text, comment = row[0], row[1].strip(), row[2].strip(), as_typed("".join(row[5:6]))
        if not text and not comment:
            continue
        if exercise not in worth or not named(name, students):
            decided.others.append([*row[:3], "", "", comment] if comment else row[:3])
            continue
        if _is_another(_number("".join(row[3:4])), worth[exercise]):
            told = f"{row[3]!r} stands behind the points of an exercise that is worth {worth[exercise]:g}"
            raise ValueError(f"{where}: {told}: write half a point as 0.5, not as 0,5")
        answer = student_of(name, students, where), exercise
        if text:
            points = _points(text, worth[exercise], where)
            if decided.points.setdefault(answer, points) != points:
                raise ValueError(f"{where}: {' '.join(answer)} has {decided.points[answer]:g} points in a line before")
        if comment and decided.comments.setdefault(answer, comment) != comment:
            raise ValueError(f"{where}: {' '.join(answer)} has another comment in a line before")
    return decided


def _points(text, most, where):
    points = _number(text)
    if not 0 <= points <= most:
        raise ValueError(f"{where}: points must be a number from 0 to {most:g}, got {text!r}")
    return points


def _is_another(number, worth):
    """A table cuts off digits."""
    return not math.isnan(number) and not math.isclose(number, worth, rel_tol=1e-5)


def _number(text):
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def decide(results: list[dict], decided: Decided) -> list[dict]:
    """The results: an entry has `"decided"`, its points, and `"comment"` where the table has them."""

    def entry_of(student, exercise, entry):
        both = {"decided": decided.points, "comment": decided.comments}
        answer = student, exercise
        return entry | {name: values[answer] for name, values in both.items() if answer in values}

    return [
        one | {"tasks": {name: entry_of(one["student"], name, entry) for name, entry in one["tasks"].items()}}
        for one in results
    ]


def write_decided(assignment: Assignment, results: list[dict], decided: Decided, path: Path) -> list[str]:
    """Write a line for each answer that was decided and each that has no verdict; returns what to say about them.

    Args:
        assignment: What was assigned.
        results: Of each student, as `decide` gives them.
        decided: What was decided.
        path: The table, in which the points can be filled in.
    """
    rows = [
        [result["student"], task.exercise, _filled_in(entry), f"{task.points:g}", said(entry), entry.get("comment", "")]
        for result in results
        for task in assignment.tasks
        if (entry := result["tasks"][task.exercise])["status"] in UNJUDGED or {"decided", "comment"} & entry.keys()
    ]
    write_whole(path, FOR_EXCEL + table([HEAD, *rows, *decided.others]))
    remarks, undecided = [], [row[0] for row in rows if not row[2] and row[4].startswith(UNJUDGED)]
    if undecided:
        told = f"Answers without a verdict: {len(undecided)}. Fill in their points in {path}, and run this again."
        remarks.append(f"{told} Hand-ins that have no points until then: {len(set(undecided))}.")
    if decided.others:
        told = ", ".join(" ".join(row[:2]) for row in decided.others)
        remarks.append(f"In {path} these are of nobody who handed in, or of no exercise that counts: {told}.")
    return remarks


def _filled_in(entry):
    return f"{entry['decided']:g}" if "decided" in entry else ""


def said(entry: dict) -> str:
    """What the grader found."""
    return f"{entry['status']}: {entry['message']}"
