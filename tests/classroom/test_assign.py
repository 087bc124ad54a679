"""What is handed out: notebooks without solutions, and with a key exercises that published solutions do not pass."""

import inspect
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from choosing import weekly

from attention_classroom.assign import assign, main
from attention_classroom.assignment import Assignment, Task
from attention_classroom.notebooks import OF_HINTS, for_students
from attention_course.exercises import CHAPTERS, chapter_exercises, check
from attention_course.exercises.judging.variants import variants

ROOT = Path(__file__).parents[2]
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LESSONS = ["multi_head", "scale", "block_cost"]


def str_of_both(given):
    """The id of lessons and a key."""
    lessons, key = given
    return f"{len(lessons)} lessons, {'no' if key is None else 'a'} key"


def cells(path, kind):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


KEYED = (CHAPTERS, "a word")


@pytest.fixture(scope="module", params=[(CHAPTERS, None), (LESSONS, "a word"), weekly((KEYED,))], ids=str_of_both)
def handed_out(request, tmp_path_factory):
    """An assignment of all lessons or of a few, without a key or with one, and the folder where it was written."""
    lessons, key = request.param
    out = tmp_path_factory.mktemp("all") / "out"
    return assign(list(lessons), out, key=key, source=ROOT / "chapters"), out


def test_no_student_notebook_tells_a_solution(handed_out):
    assignment, out = handed_out
    for name in assignment.lessons:
        text = "\n".join(cells(out / "students" / f"{name}.ipynb", "markdown"))
        assert not re.search(r"<summary>(Solution|What a good|Which lines?\b)", text), name
        published = _published(name)
        own = "\n".join([SOLUTION.sub("", published), *cells(ROOT / "chapters" / f"{name}.ipynb", "code")])
        solved = {line.strip() for code in SOLUTION.findall(published) for line in code.splitlines()}
        told = {line for line in solved if len(line) > 25 and line in text and line not in own}
        assert told == set(), name
        assert text.count("<details>") == text.count("</details>"), name
        assert text.count("<summary>Hint 1</summary>") == len(SOLUTION.findall(_published(name))), name


def test_notebooks_are_valid_and_each_check_names_its_variant(handed_out):
    assignment, out = handed_out
    code = {}
    for name in assignment.lessons:
        for folder in ("students", "instructor"):
            nbformat.validate(nbformat.read(out / folder / f"{name}.ipynb", as_version=4))
        code[name] = "\n".join(cells(out / "students" / f"{name}.ipynb", "code"))
    for task in assignment.tasks:
        call = re.search(rf'check\(\s*"{re.escape(task.exercise)}",.*?\)', code[task.exercise.split(".")[0]], re.DOTALL)
        assert re.findall(r'variant="(.*?)"', call[0]) == [task.variant] * (task.variant is not None)


def test_stubs_take_their_arguments_as_they_come_and_hints_say_of_which_form_they_speak(handed_out):
    assignment, out = handed_out
    for name in assignment.lessons:
        notebook = json.loads((out / "students" / f"{name}.ipynb").read_text())["cells"]
        texts = ["".join(cell["source"]) for cell in notebook]
        own = {task.exercise: task.variant for task in assignment.tasks if task.exercise.split(".")[0] == name}
        for stub, below in pairwise(texts):
            if called := re.search(r'^check\(\s*"([\w.]+)",\s*(\w+)', stub, re.MULTILINE):
                variant = own[called[1]]
                names = list(inspect.signature(chapter_exercises(name)[called[1]].reference).parameters)
                written = re.findall(
                    r"\w+", re.search(rf"^def {called[2]}\((.*?)\):", stub, re.MULTILINE | re.DOTALL)[1]
                )
                assert written == (names[::-1] if "arguments from the back" in str(variant) else names), called[1]
                assert below.startswith(f"{OF_HINTS}\n\n<details>") == (variant is not None), called[1]
        assert "\n".join(texts).count(OF_HINTS) == sum(variant is not None for variant in own.values())


def test_the_instructors_page_says_how_many_exercises_there_are():
    page = (ROOT / "instructors" / "index.md").read_text(encoding="utf-8")
    assert f"of the {sum(len(chapter_exercises(name)) for name in CHAPTERS)} exercises can be turned" in page


@pytest.mark.parametrize("handed_out", [weekly((KEYED,))], indirect=True, ids=str_of_both)
def test_published_solutions_earn_no_more_than_the_instructors_page_says(handed_out):
    assignment, _ = handed_out
    turned = [task.exercise for task in assignment.tasks if task.variant is not None]
    told = f"{len(turned)} of the {len(assignment.tasks)} exercises can be turned"
    assert told in (ROOT / "instructors" / "index.md").read_text(encoding="utf-8")
    assert len(turned) >= 0.95 * len(assignment.tasks)
    plain = [task.exercise for task in assignment.tasks if task.variant == "arguments from the back"]
    assert [len(variants(chapter_exercises(name.split(".")[0])[name])) for name in plain] == [1] * len(plain)
    assert len(plain) == 6  # where a copied body is right: so the instructors' page says


def test_a_stub_that_is_no_plain_function_is_left_and_its_exercise_says_so():
    exercises, variant = chapter_exercises("bottleneck"), "arguments from the back"
    task = Task("bottleneck.context", 1, variant)
    assignment = Assignment(("bottleneck",), (task,), "0", "", "00", None, 0.0)
    stub = (
        'class Context:\n    def __call__(self, *given):\n        return ...\n\n\ncheck("bottleneck.context", Context)'
    )
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": "# Title"},
            {"cell_type": "markdown", "source": "## Exercise"},
            {"cell_type": "code", "source": stub},
        ]
    }
    made = for_students(notebook, assignment, {task.exercise: task}, exercises)["cells"]
    assert "".join(made[2]["source"]).endswith("states, scores)`. The code below has them in the lesson's order still.")
    assert "".join(made[3]["source"]) == stub[:-1] + f', variant="{variant}")'


def test_a_rubric_has_a_solution_that_passes(tmp_path):
    """What is written into the instructor's notebook runs below the lesson's own solution."""
    assign(["block_cost"], tmp_path / "out", key="word", source=ROOT / "chapters")
    rubric = cells(tmp_path / "out" / "instructor" / "block_cost.ipynb", "markdown")[0]
    found = re.findall(r"^## `([\w.]+)`.*?^Variant `(.*?)`.*?^```python\n(.*?)^```", rubric, re.MULTILINE | re.DOTALL)
    solutions = dict(zip(chapter_exercises("block_cost"), SOLUTION.findall(_published("block_cost")), strict=True))
    assert len(found) == len(solutions)
    for exercise, variant, code in found:
        names = {}
        exec(f"import torch\n{solutions[exercise]}\n{code}", names)
        assert check(exercise, names["turned"], variant=variant).passed, exercise


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "this notebook itself, saved. It is worth 5 points in all, and exercises without"),
        ({"due": "2027-03-01T18:00"}, "saved, by 2027-03-01 18:00. It is worth 5 points in all"),
        ({"due": "2027-03-01T18:00+01:00", "late_per_day": 0.25},
         "saved, by 2027-03-01 18:00+01:00; each day begun after that takes 25% off its points. It is worth 5 points"),
    ],
)  # fmt: skip
def test_students_are_told_what_to_hand_in_by_when_and_for_how_much(tmp_path, given, told):
    assign(["scale"], tmp_path / "out", points={"scale.divisor": 3}, source=ROOT / "chapters", **given)
    title, second, *_ = cells(tmp_path / "out" / "students" / "scale.ipynb", "markdown")
    assert title.startswith("# ") and second.startswith("> **To hand in:** this notebook") and told in second
    assert "To hand in" not in "".join(cells(tmp_path / "out" / "instructor" / "scale.ipynb", "markdown"))


@pytest.mark.parametrize(("commit", "revision"), [("0123abc", "0123abc"), ("", "main")])
def test_a_first_cell_that_names_a_revision_names_the_one_that_was_handed_out(commit, revision):
    first = '# @title Set up\nimport sys\n\nwheel, revision = "a.whl", "main"\nprint(revision)'
    plain = 'revision = "main"\nprint("wheel, revision = \\"0\\", \\"1\\"")'
    notebook = {"cells": [{"cell_type": "markdown", "source": "# Title"}]}
    notebook["cells"] += [{"cell_type": "code", "source": source} for source in (first, plain)]
    assignment = Assignment((), (), "0.1.0", commit, "00", None, 0.0)
    made = for_students(notebook, assignment, {}, {})["cells"]
    assert "".join(made[2]["source"]) == first.replace('"main"', f'"{revision}"')
    assert "".join(made[3]["source"]) == plain


def test_an_untouched_stub_is_not_attempted_and_a_printed_solution_does_not_pass(tmp_path):
    """The cells as a student has them, and with the code of the lesson's own solution before the check."""
    out = tmp_path / "out"
    assignment = assign(LESSONS, out, key="a word", source=ROOT / "chapters")
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
    (told,) = (one for one in cells(tmp_path / "out" / "students" / "scale.ipynb", "markdown") if "3 points." in one)
    assert told.endswith("so that their standard deviation is 1?\n\n> **3 points.**")  # it begins with a lesson's words
    rubric = cells(tmp_path / "out" / "instructor" / "scale.ipynb", "markdown")[0]
    assert "| d_k | You multiplied by d_k." in rubric


def test_a_mistakes_name_ends_no_cell_of_the_rubric(tmp_path):
    assign(["masking"], tmp_path / "out", source=ROOT / "chapters")
    rubric = cells(tmp_path / "out" / "instructor" / "masking.ipynb", "markdown")[0]
    rows = [line for line in rubric.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}


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
        ({"due": "tomorrow"}, "due must be a date and a time of day such as 2027-03-01T18:05.01:00, got 'tomorrow'"),
        ({"due": "2027-03-01"}, "due must be a date and a time of day such as .*, got '2027-03-01'"),
        ({"late_per_day": 0.1}, "late_per_day is 0.1, and due is missing"),
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


@pytest.mark.parametrize("owner", ["your-organisation", "a-department"])
def test_a_copy_without_an_address_is_warned_of(tmp_path, capsys, owner):
    lesson = (ROOT / "chapters" / "scale.ipynb").read_text(encoding="utf-8")
    path = re.sub(r"https://github.com/[\w-]+/", f"https://github.com/{owner}/", lesson)
    (tmp_path / "scale.ipynb").write_text(path, encoding="utf-8")
    assert main(["scale", "--from", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    told = "Warning: these notebooks cannot install the package in Colab until `make url URL=...` was run"
    assert (told in capsys.readouterr().out) == (owner == "your-organisation")


def test_without_a_word_the_key_is_drawn_anew_each_time(monkeypatch, tmp_path):
    keys = []
    monkeypatch.setattr("attention_classroom.assign.assign", lambda *_, key, **others: keys.append(key) or 1 / 0)
    for key in ([], ["--key"], ["--key"], ["--key", "word"]):
        with pytest.raises(ZeroDivisionError):
            main(["masking", *key, "--out", str(tmp_path)])
    assert keys[0] is None and keys[1] != keys[2] and len(keys[1]) >= 32 and keys[3] == "word"


def test_the_command_line_says_what_published_solutions_earn(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "attention_course", "assign", "masking", "--key", "x", "--out", tmp_path / "out"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    # Of masking.leaks nothing but the order of the arguments is turned, which the handed-out stub shows.
    assert re.search(r"Of \d points the published solutions earn 0; with their bodies .* def, 1\.", ran.stdout)
    wrong = subprocess.run(
        [sys.executable, "-m", "attention_course", "assign", "odd", "--out", tmp_path / "two"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert wrong.returncode == 2 and "lesson must be one of" in wrong.stderr


def _published(name):
    return "\n".join(cells(ROOT / "chapters" / f"{name}.ipynb", "markdown"))
