"""A lesson as it is handed out, and as its instructor reads it."""

import copy
import re

from attention_course.classroom.assignment import Task
from attention_course.classroom.variants import PUBLISHED, RIGHT_BUT, turned_solution, variants
from attention_course.exercises import Exercise

# Folds that would do the exercise. Hints stay, and the answers to quick checks, which are there to learn from.
TOLD = re.compile(
    r"<details>\s*<summary>(?:Solution|What a good (?:answer|report) shows|Which lines? (?:is|are) wrong\?)</summary>"
    r".*?</details>\s*",
    re.DOTALL,
)
CHECK = r'check\("{}", *(\w+)\)'


def for_students(lesson: dict, tasks: dict[str, Task], sentences: dict[str, str]) -> dict:
    """The notebook without solutions, each assigned exercise with its points and with what is different.

    Args:
        lesson: A notebook, as read from its file.
        tasks: What is assigned in it, by exercise.
        sentences: For exercises that are turned round, what the learner is told.

    Raises:
        ValueError: If an assigned exercise is not checked in the notebook.
    """
    notebook = _without_outputs(lesson)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            _write(cell, TOLD.sub("", _text(cell)).rstrip())
    notebook["cells"] = [cell for cell in notebook["cells"] if _text(cell)]
    for exercise, task in tasks.items():
        question, stub, call = _exercise(notebook["cells"], exercise)
        words = f"> **{_points(task.points)}.**"
        if task.variant is not None:
            words += f" Here the exercise is turned round: {sentences[exercise]}"
            code = _text(stub)
            told = f'check("{exercise}", {call[1]}, variant="{task.variant}")'
            if len(told) > 88:
                told = f'check(\n    "{exercise}",\n    {call[1]},\n    variant="{task.variant}",\n)'
            _write(stub, code[: call.start()] + told + code[call.end() :])
        _write(question, f"{_text(question)}\n\n{words}")
    return notebook


def for_the_instructor(lesson: dict, tasks: dict[str, Task], exercises: dict[str, Exercise]) -> dict:
    """The whole notebook with a rubric on top: points, variants, and what each mistake means."""
    notebook = _without_outputs(lesson)
    rubric = {"cell_type": "markdown", "id": "rubric", "metadata": {}, "source": ""}
    parts = [_rubric(task, exercises[name], _exercise(notebook["cells"], name)[2][1]) for name, task in tasks.items()]
    _write(rubric, "\n\n".join(["# Rubric", *parts]))
    notebook["cells"].insert(0, rubric)
    return notebook


def _rubric(task, exercise, answer):
    words = f"## `{exercise.id}`: {_points(task.points)}"
    if task.variant is not None:
        told = f"{RIGHT_BUT[PUBLISHED]} Here it is turned round: {variants(exercise)[task.variant].sentence}"
        words += f"\n\nVariant `{task.variant}`. A published solution is told: {told} Turned round, it passes:"
        words += f"\n\n```python\n{turned_solution(exercise, task.variant, answer)}```"
    lines = [f"| {one.name} | {_in_a_table(one.message)} |" for one in exercise.misconceptions]
    return "\n".join([words, "", "| A wrong answer known as | is told |", "| --- | --- |", *lines])


def _in_a_table(text):
    return text.replace("|", "\\|").replace("\n", " ")


def _points(points):
    return f"{points:g} point{'' if points == 1 else 's'}"


def _exercise(cells, exercise):
    """The cell with the question, the one with the stub, and where its check stands."""
    question = None
    for cell in cells:
        if cell["cell_type"] == "markdown":
            if _text(cell).startswith("#"):
                question = cell
        elif call := re.search(CHECK.format(re.escape(exercise)), _text(cell)):
            if question is None:
                break
            return question, cell, call
    raise ValueError(f"the notebook must check {exercise!r} below a heading, and does not")


def _without_outputs(lesson):
    notebook = copy.deepcopy(lesson)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return notebook


def _text(cell):
    return "".join(cell["source"])


def _write(cell, text):
    cell["source"] = text.splitlines(keepends=True)
