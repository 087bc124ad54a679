"""A lesson as it is handed out, and as its instructor reads it."""

import copy
import re
from datetime import datetime
from itertools import pairwise

from attention_classroom.assignment import Assignment, Task
from attention_classroom.open_exercises import is_open, with_places
from attention_course.exercises import Exercise
from attention_course.exercises.judging.variants import (
    PUBLISHED,
    RIGHT_BUT,
    Variant,
    sentence,
    taken,
    turned_solution,
    turns_of,
    variants,
)

# Folds that would do the exercise. Hints stay, and the answers to quick checks, which are there to learn from.
TOLD = re.compile(
    r"<details>\s*<summary>(?:Solution|What a good (?:answer|report) shows|Which lines? (?:is|are) wrong\?)</summary>"
    r".*?</details>\s*",
    re.DOTALL,
)
SOLUTION = re.compile(r"<summary>Solution</summary>.*?```python\n(.*?)```", re.DOTALL)
CHECK = r'check\("{}", *(\w+)\)'
HEADING = re.compile(r"^#{2,} ", re.MULTILINE)  # one # is a comment in code, too
FOLDS = re.compile(r"</?(?:details|summary)>")
PARAMETERS = r"^def {}\(([\w\s,]*)\):"  # of a stub; with defaults or annotations it is left as it is
REVISION = re.compile(r'^(wheel, revision = "[^"\n]*", )"[^"\n]*"', re.MULTILINE)
HINTS = "<details><summary>Hint 1</summary>"
OF_HINTS = "> The hints speak of the exercise in the lesson's own form, before it was turned round."


def for_students(lesson: dict, assignment: Assignment, tasks: dict[str, Task], exercises: dict[str, Exercise]) -> dict:
    """The notebook without solutions, each assigned exercise with its points and with what is different.

    Args:
        lesson: A notebook, as read from its file.
        assignment: All that is handed out.
        tasks: What is assigned in this notebook, by exercise.
        exercises: As the lessons have them.

    Raises:
        ValueError: If an assigned exercise is not checked in the notebook.
    """
    notebook = _without_outputs(lesson)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            _write(cell, TOLD.sub("", _text(cell)).rstrip())
        elif assignment.commit:
            _write(cell, REVISION.sub(rf'\1"{assignment.commit}"', _text(cell)))
    notebook["cells"] = [cell for cell in notebook["cells"] if _text(cell)]
    notebook["cells"] = list(with_places(notebook["cells"], tasks.values()))
    for name, task in tasks.items():
        if is_open(name):
            continue
        question, stub, call = _exercise(notebook["cells"], name)
        words = f"> **{_points(task.points)}.**"
        if task.variant is not None:
            variant = variants(exercises[name])[task.variant]
            words += f" Here the exercise is turned round: {variant.sentence}"
            words += _turn_the_stub(stub, call, exercises[name], variant)
            _note_above_hints(notebook["cells"], stub)
        _write(question, f"{_text(question)}\n\n{words}")
    top = {"cell_type": "markdown", "id": "hand-in", "metadata": {}, "source": ""}
    _write(top, _to_hand_in(assignment, tasks))
    notebook["cells"].insert(1, top)
    return notebook


def _to_hand_in(assignment, tasks):
    words = "> **To hand in:** this notebook itself, saved"
    if assignment.due is not None:
        words += f", by {datetime.fromisoformat(assignment.due).isoformat(' ', 'minutes')}"
        if assignment.late_per_day:
            words += f"; each day begun after that takes {100 * assignment.late_per_day:g}% off its points"
    total = _points(sum(task.points for task in tasks.values()))
    words += f". It is worth {total} in all, and exercises without a line of points carry no marks."
    if assignment.partial:
        words += " An answer that passes a part of its tests earns that part of its points."
    return f"{words} (From Colab: *File*, *Download*, *Download .ipynb*.)"


def _turn_the_stub(stub, call, exercise, variant: Variant):
    """Let the check name the variant, and the stub take its arguments as they come; what to say where it cannot."""
    code = _text(stub)
    told = f'check("{exercise.id}", {call[1]}, variant="{variant.name}")'
    if len(told) > 88:
        told = f'check(\n    "{exercise.id}",\n    {call[1]},\n    variant="{variant.name}",\n)'
    code = code[: call.start()] + told + code[call.end() :]
    names, found = taken(exercise, variant.turns), re.search(PARAMETERS.format(call[1]), code, re.MULTILINE)
    written = re.findall(r"\w+", found[1]) if found else []
    turned = sorted(written) == sorted(names)
    if turned:
        places = iter(names)
        code = code[: found.start(1)] + re.sub(r"\w+", lambda _: next(places), found[1]) + code[found.end(1) :]
    _write(stub, code)
    return "" if turned or names == taken(exercise, ()) else " The code below has them in the lesson's order still."


def _note_above_hints(cells, stub):
    for above, cell in pairwise(cells):
        if above is stub:
            _write(cell, _text(cell).replace(HINTS, f"{OF_HINTS}\n\n{HINTS}", 1))


def for_marking(lesson: dict, task: Task, exercise: Exercise) -> tuple[str, str]:
    """What an exercise asks, and its solution, from the instructor's notebook of its lesson.

    Raises:
        ValueError: If it is not checked in the notebook.
    """
    cells = lesson["cells"]
    question, stub, call = _exercise(cells, task.exercise)
    after = _text(next((cell for above, cell in pairwise(cells) if above is stub), {"source": ""}))
    asked, solved = HEADING.split(_text(question))[-1], SOLUTION.search(after)
    solution = solved[1] if solved else ""
    if task.variant is not None:
        asked += f"\n\nHere it is turned round: {sentence(exercise, turns_of(task.variant))}"
        solution += f"\n\n{turned_solution(exercise, task.variant, call[1])}"
    return FOLDS.sub("", asked), solution


def title_of(lesson: dict, exercise: str) -> str:
    """The heading of an exercise in the notebook of its lesson.

    Raises:
        ValueError: If it is not checked there.
    """
    question = _text(_exercise(lesson["cells"], exercise)[0])
    return re.findall(r"^##+ +(.*)", question, re.MULTILINE)[-1]


def for_the_instructor(lesson: dict, tasks: dict[str, Task], exercises: dict[str, Exercise]) -> dict:
    """The whole notebook with a rubric on top: points, variants, and what each mistake means."""
    notebook = _without_outputs(lesson)
    rubric = {"cell_type": "markdown", "id": "rubric", "metadata": {}, "source": ""}
    parts = [
        _rubric(task, exercises[name], _exercise(notebook["cells"], name)[2][1])
        for name, task in tasks.items()
        if not is_open(name)
    ]
    _write(rubric, "\n\n".join(["# Rubric", *parts]))
    notebook["cells"].insert(0, rubric)
    return notebook


def _rubric(task, exercise, answer):
    words = f"## `{exercise.id}`: {_points(task.points)}"
    if task.variant is not None:
        told = f"{RIGHT_BUT[PUBLISHED]} Here it is turned round: {variants(exercise)[task.variant].sentence}"
        words += f"\n\nVariant `{task.variant}`. A published solution is told: {told} Turned round, it passes:"
        words += f"\n\n```python\n{turned_solution(exercise, task.variant, answer)}```"
    lines = [f"| {_in_a_table(one.name)} | {_in_a_table(one.message)} |" for one in exercise.misconceptions]
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
            if HEADING.search(_text(cell)):
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
