"""What is handed out: notebooks without solutions, and with a key exercises that published solutions do not pass."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from attention_course.classroom.assign import assign
from attention_course.classroom.assignment import Assignment
from attention_course.exercises import CHAPTERS, check

ROOT = Path(__file__).parents[2]
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LESSONS = ["multi_head", "scale", "block_cost"]


def cells(path, kind):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All lessons as one assignment with a key, and the folder where it was written."""
    out = tmp_path_factory.mktemp("all") / "out"
    return assign(list(CHAPTERS), out, key="a word", source=ROOT / "chapters"), out


def test_published_solutions_earn_at_most_a_twentieth_of_the_points(everything):
    assignment, _ = everything
    plain = [task.exercise for task in assignment.tasks if task.variant is None]
    assert len(plain) <= 0.05 * len(assignment.tasks), plain


def test_no_student_notebook_tells_a_solution(everything):
    _, out = everything
    for name in CHAPTERS:
        text = "\n".join(cells(out / "students" / f"{name}.ipynb", "markdown"))
        assert not re.search(r"<summary>(Solution|What a good|Which lines?\b)", text), name
        published = _published(name)
        own = "\n".join([SOLUTION.sub("", published), *cells(ROOT / "chapters" / f"{name}.ipynb", "code")])
        solved = {line.strip() for code in SOLUTION.findall(published) for line in code.splitlines()}
        told = {line for line in solved if len(line) > 25 and line in text and line not in own}
        assert told == set(), name
        assert text.count("<details>") == text.count("</details>"), name
        assert text.count("<summary>Hint 1</summary>") == len(SOLUTION.findall(_published(name))), name


def test_notebooks_are_valid_and_each_check_names_its_variant(everything):
    assignment, out = everything
    for name in CHAPTERS:
        for folder in ("students", "instructor"):
            nbformat.validate(nbformat.read(out / folder / f"{name}.ipynb", as_version=4))
    code = {name: "\n".join(cells(out / "students" / f"{name}.ipynb", "code")) for name in CHAPTERS}
    for task in assignment.tasks:
        call = re.search(rf'check\(\s*"{re.escape(task.exercise)}",.*?\)', code[task.exercise.split(".")[0]], re.DOTALL)
        assert re.findall(r'variant="(.*?)"', call[0]) == [task.variant] * (task.variant is not None)


def test_an_untouched_stub_is_not_attempted_and_a_printed_solution_does_not_pass(everything):
    """The cells as a student has them, and with the code of the lesson's own solution before the check."""
    assignment, out = everything
    variant = {task.exercise: task.variant for task in assignment.tasks}
    for name in LESSONS:
        solutions = iter(SOLUTION.findall(_published(name)))
        names = {}
        exec("import math\nimport torch\nfrom torch import nn", names)
        for cell in cells(out / "students" / f"{name}.ipynb", "code"):
            if called := re.search(r'check\(\s*"([\w.]+)"', cell):
                verdicts = []
                names["check"] = lambda *args, kept=verdicts, **named: kept.append(check(*args, **named))
                exec(cell, names)
                exec(next(solutions), names)
                exec(cell[called.start() :], names)
                published = "passed" if variant[called[1]] is None else "wrong"
                assert [verdict.status for verdict in verdicts] == ["not attempted", published], (called[1], verdicts)


def test_without_a_key_the_exercises_stand_as_published(tmp_path):
    assignment = assign(["scale"], tmp_path / "out", points={"scale.divisor": 3}, source=ROOT / "chapters")
    assert [(task.points, task.variant) for task in assignment.tasks if task.exercise == "scale.divisor"] == [(3, None)]
    assert Assignment.load(tmp_path / "out" / "instructor" / "assignment.json") == assignment
    assert "> **3 points.**" in "\n".join(cells(tmp_path / "out" / "students" / "scale.ipynb", "markdown"))
    rubric = cells(tmp_path / "out" / "instructor" / "scale.ipynb", "markdown")[0]
    assert "| d_k | You multiplied by d_k." in rubric


def test_the_key_decides(tmp_path):
    chosen = [
        [task.variant for task in assign(LESSONS, tmp_path / str(place), key=key, source=ROOT / "chapters").tasks]
        for place, key in enumerate(["one", "one", "another"])
    ]
    assert chosen[0] == chosen[1] != chosen[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lessons": ["scale", "scale"]}, "lessons must be named once each"),
        ({"lessons": ["no_such"]}, "lesson must be one of .* got 'no_such'"),
        ({"source": Path("nowhere")}, "is not there: name the folder"),
        ({"points": {"scale.nothing": 1}}, "points must name one of .*scale.divisor.* got 'scale.nothing'"),
        ({"points": {"scale.divisor": -1}}, "points of scale.divisor must be 0 or more, got -1"),
        ({"late_per_day": 2}, "late_per_day must be between 0 and 1, got 2"),
        ({"due": "tomorrow"}, "tomorrow"),
    ],
)
def test_errors_name_the_argument_and_write_nothing(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        assign(**{"lessons": ["scale"], "out": tmp_path / "out", "source": ROOT / "chapters"} | change)
    assert not (tmp_path / "out").exists()


def test_what_was_handed_out_is_not_written_over(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError, match="must be a new or an empty folder"):
        assign(["scale"], tmp_path, source=ROOT / "chapters")


def test_a_file_that_is_no_assignment_is_named(tmp_path):
    path = tmp_path / "assignment.json"
    path.write_text('{"lessons": []}')
    with pytest.raises(ValueError, match="assignment.json must be an assignment.json as written by assign: 'tasks'"):
        Assignment.load(path)


def test_the_command_line_says_what_published_solutions_earn(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "attention_course", "assign", "scale", "--key", "x", "--out", tmp_path / "out"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.search(r"Of 3 points the published solutions earn \d", ran.stdout)
    wrong = subprocess.run(
        [sys.executable, "-m", "attention_course", "assign", "odd", "--out", tmp_path / "two"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert wrong.returncode == 2 and "lesson must be one of" in wrong.stderr


def _published(name):
    return "\n".join(cells(ROOT / "chapters" / f"{name}.ipynb", "markdown"))
