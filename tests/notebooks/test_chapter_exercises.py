"""The exercises as a reader meets them: stub, hints, check and solution belong together."""

import ast
import re
from pathlib import Path

from form import parse

from attention_course.exercises import chapter_exercises, check
from attention_course.exercises.judging.checking import NOT_FIXED

PARTS = {
    "minutes": r"\d+ min",
    "difficulty": r"(?i)difficulty",
    **{f"hint {n}": rf"<details>\s*<summary>Hint {n}</summary>" for n in (1, 2, 3)},
    "solution": r"<details>\s*<summary>Solution</summary>",
}
WRONG_LINES = re.compile(r"<details><summary>Which lines? (?:is|are) wrong\?</summary>(.*?)</details>", re.DOTALL)
QUOTED_LINE = re.compile(r"^- `(.+?)` → \S", re.MULTILINE)
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def check_calls(cell):
    """The calls of `check` in a code cell, by the exercise they name."""
    return {
        node.args[0].value: node
        for node in ast.walk(parse(cell))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
    }


def exercises(notebook):
    """For each exercise: its stub cell, the call that checks it, and the Markdown from its heading to the next."""
    found, prose = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            if text.startswith("#"):
                prose = []
            prose.append(text)
        elif cell["cell_type"] == "code":
            for exercise, call in check_calls(cell).items():
                found[exercise] = (cell, call, prose)
    return {exercise: (cell, call, "\n".join(prose)) for exercise, (cell, call, prose) in found.items()}


def imported(notebook):
    """The names that the chapter's import statements bind: all a solution may count on."""
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            body = [node for node in parse(cell).body if isinstance(node, ast.Import | ast.ImportFrom)]
            exec(compile(ast.Module(body, type_ignores=[]), "imports", "exec"), names)
    return names


def verdicts(notebook, code_of):
    """The verdict on each exercise after some code of its own has run."""
    judged = {}
    for exercise, (cell, call, prose) in exercises(notebook).items():
        names = imported(notebook) | {"check": check}
        exec(compile(code_of(cell, prose), exercise, "exec"), names)
        judged[exercise] = eval(compile(ast.Expression(call), exercise, "eval"), names)
    return judged


def test_chapter_and_package_know_the_same_exercises(chapter, notebook):
    assert sorted(exercises(notebook)) == sorted(chapter_exercises(Path(chapter).stem))


def test_each_page_checks_an_exercise_and_knows_what_goes_wrong_in_it(chapter, notebook):
    known = chapter_exercises(Path(chapter).stem)
    assert known
    assert [name for name, exercise in known.items() if len(exercise.misconceptions) < 4] == []


def test_every_exercise_has_all_its_parts(chapter, notebook):
    missing = [
        (exercise, part)
        for exercise, (_, _, prose) in exercises(notebook).items()
        for part, pattern in PARTS.items()
        if not re.search(pattern, prose)
    ]
    assert missing == []


def test_an_untouched_stub_is_not_attempted_and_one_to_be_mended_holds_the_given_code(chapter, notebook):
    untouched = verdicts(notebook, lambda cell, prose: parse(cell))
    assert {exercise for exercise, verdict in untouched.items() if verdict.status != "not attempted"} == set()
    handed_out = {exercise for exercise, verdict in untouched.items() if verdict.message == NOT_FIXED}
    known = chapter_exercises(Path(chapter).stem)
    assert handed_out == {name for name, exercise in known.items() if exercise.given}


def test_code_to_be_mended_stands_below_a_fold_that_quotes_its_wrong_lines(chapter, notebook):
    """The site makes it a question that is answered by tapping lines: each quoted one stands in the code once."""
    known, lines = chapter_exercises(Path(chapter).stem), {}
    for exercise, (cell, _, prose) in exercises(notebook).items():
        if known[exercise].given:
            (fold,) = WRONG_LINES.findall(prose) or [""]
            code = [line.strip() for line in "".join(cell["source"]).splitlines()]
            lines[exercise] = [code.count(line) for line in QUOTED_LINE.findall(fold)]
    assert {exercise: counts for exercise, counts in lines.items() if not counts or set(counts) != {1}} == {}


def test_a_lesson_has_code_to_mend_and_at_most_two_functions_to_complete(lesson, notebook):
    given = [exercise.given is not None for exercise in chapter_exercises(Path(lesson).stem).values()]
    assert given.count(True) >= 1, "no exercise of this lesson has `given` code"
    assert given.count(False) <= 2


def test_the_printed_solution_passes(chapter, notebook):
    judged = verdicts(notebook, lambda cell, prose: SOLUTION.search(prose)[1])
    assert {exercise: verdict.message for exercise, verdict in judged.items() if verdict.status != "passed"} == {}
