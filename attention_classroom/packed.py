"""Feedback packed as Moodle and Canvas take it back, after the code of both that reads it.

Moodle takes a zip with a folder for each participant, named as in its download. Canvas knows a student and what was
handed in by the two numbers in a file's name, and shows the file under the name of what was handed in: so it is a
notebook, too.
"""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from attention_classroom.grading import safe_name
from attention_classroom.handed_in import CANVAS, platforms
from attention_classroom.roster import Roster
from attention_classroom.tables import NUMBER


def pack_feedback(handed_in: Mapping[str, list[Path]], roster: Roster, out: Path) -> list[str]:
    """Write `feedback_moodle.zip` or `feedback_canvas.zip` where notebooks came from there; returns what to say.

    Args:
        handed_in: Notebooks by student.
        roster: Says which are those of a group.
        out: The folder with `feedback/`.
    """
    moodle, canvas, is_moodle = {}, {}, "moodle" in platforms(handed_in)
    for handed, paths in handed_in.items():
        pages = {one: out / "feedback" / f"{safe_name(one)}.md" for one in roster.of(handed)}
        texts = {student: page.read_text(encoding="utf-8") for student, page in pages.items()}
        for student in filter(NUMBER.search, texts if is_moodle else ()):
            moodle[f"{student}_assignsubmission_file_/feedback.md"] = texts[student]
        if name := next((path.name for path in paths if CANVAS.fullmatch(path.name)), None):
            canvas[name] = _as_notebook(next(iter(texts.values())))
    told = [_zip(moodle, out / "feedback_moodle.zip"), _zip(canvas, out / "feedback_canvas.zip")]
    return list(filter(None, told))


def _as_notebook(text):
    cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": text.splitlines(keepends=True)}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _zip(files, path):
    """Write it whole or not at all; where there is nothing to pack, what an earlier run packed goes."""
    path.unlink(missing_ok=True)
    if not files:
        return ""
    beside = path.with_name(path.name + ".new")
    with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name.encode("utf-8", "replace").decode(), text)
    os.replace(beside, path)
    return f"Feedback of {len(files)} students, to be uploaded as it is: {path}."
