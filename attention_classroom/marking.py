"""A page to mark by hand: the answers of `decided.csv`, each beside its exercise, read and marked without a server."""

import base64
import hashlib
import json
from pathlib import Path
from string import Template

from attention_classroom.assignment import Assignment
from attention_classroom.grading import write_whole
from attention_classroom.notebooks import for_marking
from attention_classroom.open_exercises import is_open, open_exercises
from attention_classroom.overrides import HEAD, said
from attention_classroom.tables import lines, named
from attention_course.exercises import find_exercise

PARTS = Path(__file__).with_name("marking")  # .html, .css, .js


def write_marking(assignment: Assignment, results: list[dict], lessons: Path, table: Path) -> list[str]:
    """Write `marking.html` beside a table, where it has answers to decide; returns what to say about that.

    The page asks for nothing, runs no script but its own, and shows what was handed in as text only.

    Args:
        assignment: What was assigned.
        results: Of each student, as `grade_one` gives them.
        lessons: The folder of the instructor's notebooks; without them the page lacks what they say.
        table: `decided.csv`, as `write_decided` wrote it.
    """
    page = table.with_name("marking.html")
    answers, others = _of_the_table(assignment, results, table)
    if not answers:
        page.unlink(missing_ok=True)
        return []
    asked = {answer["row"][1] for answer in answers}
    data = {
        "of": hashlib.sha256(repr(assignment).encode()).hexdigest()[:16],
        "head": HEAD,
        "tasks": {task.exercise: _told(task, lessons) for task in assignment.tasks if task.exercise in asked},
        "answers": answers,
        "others": others,
    }
    write_whole(page, page_of(data))
    return [f"To mark answers by hand, open {page}."]


def page_of(data: dict) -> str:
    """The page; what is in the data cannot end the element that it stands in."""
    style, script = (PARTS.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; "
    return Template(PARTS.with_suffix(".html").read_text(encoding="utf-8")).substitute(
        policy=policy + "form-action 'none'",
        style=style,
        script=script,
        data=json.dumps(data).replace("<", "\\u003c"),
    )


def _digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _of_the_table(assignment, results, table):
    """The table's lines with what was handed in, exercise by exercise, and those of nobody or nothing that counts."""
    answers, others = [], []
    order, tasks = [task.exercise for task in assignment.tasks], {one["student"]: one["tasks"] for one in results}
    for _, row in lines(table, HEAD[:2]):
        student, exercise = named(row[0], tasks), row[1]
        if len(student) == 1 and exercise in order:
            entry = tasks[student[0]][exercise]
            answers.append({"row": row, "said": said(entry), "source": entry["source"], "run": entry["run"]})
        else:
            others.append(row)
    return sorted(answers, key=lambda answer: order.index(answer["row"][1])), others


def _told(task, lessons):
    lesson, by_hand = task.exercise.split(".")[0], is_open(task.exercise)
    exercise = None if by_hand else find_exercise(task.exercise)
    try:
        notebook = json.loads((lessons / f"{lesson}.ipynb").read_text(encoding="utf-8"))
        if by_hand:
            asked, good = open_exercises(lesson, notebook)[task.exercise]
        else:
            asked, good = for_marking(notebook, task, exercise)
    except (OSError, ValueError, KeyError):
        asked = good = ""
    mistakes = [] if by_hand else [[one.name, one.message] for one in exercise.misconceptions]
    return {"open": by_hand, "asked": asked, "good": good, "mistakes": mistakes}
