"""Points for a part of the tests: only where the assignment says so, and never for a copied solution."""

import pytest
from test_grade import CHECK, JACOBIAN, ONE, ROOT, START, made, marks, notebook
from test_reports import page_of

from attention_classroom.assign import main
from attention_classroom.assignment import Assignment, Task
from attention_classroom.judging import grade_one
from attention_classroom.reports import write_reports
from attention_course.exercises import find_exercise
from attention_course.exercises.judging.checking import draw, share_right
from attention_course.exercises.judging.running import run
from attention_course.exercises.judging.variants import PUBLISHED, varied

HALF = "import torch\n\ndef answer(x):\n    p = x.softmax(0)\n    right = torch.diag(p) - torch.outer(p, p)\n"


@pytest.mark.parametrize(
    ("line", "share"),
    [("return right if len(x) < 4 else right + 1", 4 / 12), ("return right + 1", 0), ("return right", 0)],
)
def test_a_wrong_answer_earns_the_share_of_its_tests_where_the_assignment_says_so(tmp_path, line, share):
    worse, path = (
        notebook(tmp_path / f"{n}.ipynb", START, f"{HALF}    {code}\n{CHECK}")
        for n, code in enumerate(["return right + 1", line])
    )
    sizes = [len(arguments[0]) for arguments in draw(find_exercise(JACOBIAN), 0)]
    assert sum(size < 4 for size in sizes) == 4  # of twelve
    for partial in (False, True):
        assignment = made(*ONE.tasks, partial=partial)
        result = grade_one(assignment, "Ada", [worse, path])
        assert result["tasks"][JACOBIAN]["share"] == share
        write_reports(assignment, [result], tmp_path / "out", {})
        points = "2" if line == "return right" else f"{round(2 * share * partial, 2):g}"
        assert marks(tmp_path / "out")["Ada"]["points"] == points
        assert f"{points} of 2" in page_of(tmp_path / "out", "Ada")


def test_a_copied_solution_earns_no_share_where_it_passes_some_tests(tmp_path):
    exercise = varied(find_exercise("positions.add_codes"), "arguments from the back")
    code = "def f(tokens, table):\n    return tokens + table[: tokens.size(1)]\n"
    inputs, names = draw(exercise, 0), {}
    exec(code, names)
    assert share_right(exercise, inputs, run(names["f"], inputs)) > 0.2
    path = notebook(tmp_path / "a.ipynb", START, f'{code}check("positions.add_codes", f)')
    task = Task("positions.add_codes", 1, "arguments from the back")
    entry = grade_one(made(task, partial=True), "Ada", [path])["tasks"]["positions.add_codes"]
    assert (entry["misconception"], entry["share"]) == (PUBLISHED, 0)


def test_gradients_are_one_test_where_they_count():
    exercise = find_exercise("multi_head.attention")
    inputs = draw(exercise, 0)
    assert exercise.differentiable and share_right(exercise, inputs, run(exercise.reference, inputs)) == 12 / 13


@pytest.mark.parametrize("given", [[], ["--partial"]])
def test_students_are_told_of_the_rule(tmp_path, given):
    assert main(["scale", "--out", str(tmp_path / "out"), "--from", str(ROOT / "chapters"), *given]) == 0
    assert Assignment.load(tmp_path / "out" / "instructor" / "assignment.json").partial == bool(given)
    told = "An answer that passes a part of its tests earns that part of its points."
    assert (told in (tmp_path / "out" / "students" / "scale.ipynb").read_text()) == bool(given)
