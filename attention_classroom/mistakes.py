"""A page to show to the class: of each exercise how many passed, and how many made which mistake. It names nobody."""

import html
import json
import re
from collections import Counter
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.grading import write_whole
from attention_classroom.judging import NOT_PYTHON, UNJUDGED
from attention_classroom.notebooks import title_of
from attention_classroom.open_exercises import is_open
from attention_course.course.environment import PLACEHOLDER
from attention_course.exercises import find_exercise
from attention_course.exercises.judging.variants import RIGHT_BUT

# Beside the exercises' own; no words of an answer are among them.
SENTENCES = {
    **RIGHT_BUT,
    NOT_PYTHON: "Python refuses the cell, and runs nothing of it.",
    "gradient": "The numbers are right, and another gradient comes through, or none.",
    None: "Wrong in another way: each page of feedback shows an input.",
}
SITE = re.compile(r'repository, site = [^,]*, \\"(https://[^"\\]*)')  # in a notebook's first cell, as JSON
SHOWN = dict.fromkeys(UNJUDGED, "not decided yet")  # in the place of what only an instructor needs to know
HEAD = (
    '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>How many made which mistake</title><style>"
    "body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:1.2rem/1.5 sans-serif;color-scheme:light dark}"
    "td{padding:.3rem .8rem .3rem 0;vertical-align:top}td:first-child{text-align:right}</style>"
)


def write_mistakes(assignment: Assignment, results: list[dict], lessons: Path | None, path: Path) -> None:
    """Write the page.

    Args:
        assignment: What was assigned.
        results: Of each student, as `grade_one` gives them.
        lessons: The folder of notebooks that `assign` wrote for the instructor: where a lesson's is there, the page
            says under which of its headings an exercise stands with its hints, and leads there on a published site.
        path: Of the page, in HTML.
    """
    tasks = [task for task in assignment.tasks if not is_open(task.exercise)]
    parts = [_of(task, [result["tasks"][task.exercise] for result in results], lessons) for task in tasks]
    top = f"<h1>How many made which mistake</h1>\n<p>{len(results)} submissions, as the checks judged them.</p>"
    write_whole(path, "\n".join([HEAD, top, *parts]) + "\n")


def _of(task, entries, lessons):
    """Of one exercise."""
    statuses = Counter(SHOWN.get(entry["status"], entry["status"]) for entry in entries)
    wrong = Counter(entry["misconception"] for entry in entries if entry["status"] == "wrong")
    sentences = {one.name: one.message for one in find_exercise(task.exercise).misconceptions} | SENTENCES
    rows = [(statuses.pop("passed", 0), "<strong>passed</strong>")]
    rows += [(n, _told(name, sentences[name])) for name, n in sorted(wrong.items(), key=lambda one: _place(*one))]
    statuses.pop("wrong", None)
    rows += [(n, html.escape(status)) for status, n in statuses.most_common()]
    table = "\n".join(f"<tr><td>{n}</td><td>{words}</td></tr>" for n, words in rows)
    return f"<h2>{html.escape(task.exercise)}</h2>\n{_where(task, lessons)}<table>\n{table}\n</table>"


def _place(name, n):
    """The most frequent first, what has no name last."""
    return name is None, -n, name or ""


def _told(name, sentence):
    return f"<strong>{html.escape(name)}</strong>: {_shown(sentence)}" if name else _shown(sentence)


def _shown(text):
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


def _where(task, lessons):
    """Under which heading of which page the exercise and its hints stand."""
    lesson = task.exercise.split(".")[0]
    notebook = lessons / f"{lesson}.ipynb" if lessons else None
    if notebook is None or not notebook.is_file():
        return ""
    text = notebook.read_text(encoding="utf-8")
    title, site = title_of(json.loads(text), task.exercise), SITE.search(text)
    under = f"<em>{_shown(title)}</em>"
    if site and PLACEHOLDER not in site[1]:
        place = re.sub("[^a-z0-9]+", "-", title.lower()).lstrip("-0123456789").rstrip("-")
        under = f'<a href="{html.escape(site[1])}/chapters/{lesson}.html#{place}">{under}</a>'
    return f"<p>Its hints stand on the page <em>{html.escape(lesson)}</em> under {under}.</p>\n"
