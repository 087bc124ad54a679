"""Fifty-four ways of writing a right answer, and what the grader says of each. Recorded in results/ways.json.

`python experiments/ways.py` writes the printed solutions of several lessons in each way, into the lesson's notebook,
and grades them. An answer that is right may be passed or set aside to be looked at, and is never called wrong. The
tests run a sample.
"""

import ast
import copy
import functools
import json
import re
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from attention_classroom.assignment import Assignment, Task
from attention_classroom.grading import grade_one
from attention_course.exercises import Exercise, chapter_exercises

ROOT = Path(__file__).parents[1]
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHECK = re.compile(r'^check\("([\w.]+)", *(\w+)\)', re.MULTILINE)
# Matrices, tuples, integers and booleans; functions, models and a dictionary as arguments; gradients; code to mend.
LESSONS = ("scale", "flash", "block_cost", "gpt2", "masking", "transformer")
# The ways that need more of the notebook than is run: these are set aside.
LOOKED_AT = {"in a loop over checks", "filled by a function", "from a text", "from a file"}
LOOKED_AT |= {"filled by a function in a loop", "filled by a function that knows where", "filled by a keyword"}
NO_PYTHON = "def (:"
# Answers with what was filled in, and with nothing, which is wrong, where that is missing.
ASKED = "def asked(*arguments):\n    return functions[0](*arguments) if functions else None"


@dataclass(frozen=True)
class Solution:
    """A printed solution: one function, and what stands before it.

    Attributes:
        exercise: What it solves.
        source: As it is printed.
    """

    exercise: Exercise
    source: str

    @property
    def function(self) -> ast.FunctionDef:
        """A copy of its definition."""
        return copy.deepcopy(ast.parse(self.source).body[-1])

    @property
    def name(self) -> str:
        """Of its function."""
        return self.function.name

    @property
    def before(self) -> str:
        """Constants that it uses."""
        return "\n".join(map(ast.unparse, ast.parse(self.source).body[:-1]))

    def defined(self, indent=0, first=(), decorators=(), annotation=None) -> str:
        """The definition again, deeper, with further arguments in front, decorated or annotated."""
        function = self.function
        function.decorator_list = [*map(ast.Name, decorators), *function.decorator_list]
        function.args.args = [ast.arg(argument) for argument in first] + function.args.args
        if annotation:
            function.returns = ast.Name(annotation)
            for argument in function.args.args:
                argument.annotation = ast.Name(annotation)
        return textwrap.indent(ast.unparse(function), " " * indent)

    def checked(self, answer=None, check="check") -> str:
        """The line that checks it."""
        return f'{check}("{self.exercise.id}", {answer or self.name})'


def _in_a_class(base, method, answer, decorators=(), first=("self",)):
    """The answer is a method of a class."""

    def way(one):
        method_name = method or one.name
        head = f"class Answers{base}:\n"
        definition = one.defined(4, first, decorators).replace(f"def {one.name}(", f"def {method_name}(", 1)
        return [one.before, head + definition, one.checked(answer.format(method_name))]

    return way


def _numpy(one):
    """Where no gradient counts."""
    if one.exercise.differentiable:
        return None
    return [
        "import numpy as np",
        one.source,
        "def plain(result):\n    if isinstance(result, tuple):\n        return tuple(map(plain, result))\n"
        "    return np.asarray(result).copy()",
        f"def answer(*arguments):\n    return plain({one.name}(*arguments))",
        one.checked("answer"),
    ]


# Each gives the cells that stand in the place of the stub's; nothing where it makes no sense.
WAYS = {
    "as printed": lambda one: [f"{one.source}\n{one.checked()}"],
    "another name of check": lambda one: ["test = check", one.source, one.checked(check="test")],
    "an alias of check": lambda one: ["from attention_course import check as c", one.source, one.checked(check="c")],
    "the package's check": lambda one: ["import attention_course", one.source,
                                        one.checked(check="attention_course.check")],
    "the package under another name": lambda one: ["import attention_course as ac", one.source,
                                                   one.checked(check="ac.check")],
    "keywords": lambda one: [
        one.source, f'verdict = check(answer={one.name}, exercise_id="{one.exercise.id}")\nverdict'],
    "in a call": lambda one: [one.source, f"print({one.checked()})"],
    "in an assert": lambda one: [one.source, f"assert {one.checked()}.passed"],
    "in a function": lambda one: [one.source, f"def test():\n    return {one.checked()}", "test()"],
    "in a loop over checks": lambda one: [
        one.source, f'for name, answer in [("{one.exercise.id}", {one.name})]:\n    print(check(name, answer))'],
    "the exercise by a variable": lambda one: [f'EXERCISE = "{one.exercise.id}"', one.source,
                                               f"check(EXERCISE, {one.name})"],
    "a lambda": lambda one: [one.source, one.checked(
        f"lambda {', '.join(a.arg for a in one.function.args.args)}: "
        f"{one.name}({', '.join(a.arg for a in one.function.args.args)})")],
    "star arguments": lambda one: [
        one.source, f"def answer(*arguments, **more):\n    return {one.name}(*arguments, **more)",
        one.checked("answer")],
    "a partial": lambda one: [
        "from functools import partial", one.source,
        f"def chosen(which, *arguments):\n    return which(*arguments)\n\nanswer = partial(chosen, {one.name})",
        one.checked("answer")],
    "annotated": lambda one: ["from typing import Any", one.before, one.defined(annotation="Any"), one.checked()],
    "annotated for later": lambda one: ["from __future__ import annotations", one.before,
                                        one.defined(annotation="NotThere"), one.checked()],
    "decorated": lambda one: [
        "import functools",
        "def counted(function):\n    @functools.wraps(function)\n    def wrapper(*arguments):\n"
        "        wrapper.calls += 1\n        return function(*arguments)\n    wrapper.calls = 0\n    return wrapper",
        one.before, one.defined(decorators=["counted"]), one.checked()],
    "a closure": lambda one: [one.before, f"def make():\n{one.defined(4)}\n    return {one.name}\n\nanswer = make()",
                              one.checked("answer")],
    "nonlocal": lambda one: [
        one.before, f"def make():\n    calls = 0\n{one.defined(4)}\n    def counted(*arguments):\n"
        f"        nonlocal calls\n        calls += 1\n        return {one.name}(*arguments)\n    return counted",
        one.checked("make()")],
    "global": lambda one: [
        "calls = 0", one.source,
        f"def answer(*arguments):\n    global calls\n    calls += 1\n    return {one.name}(*arguments)",
        one.checked("answer")],
    "nested in a class": _in_a_class("", None, "Answers.{}", ["staticmethod"], ()),
    "a class's method": _in_a_class("", None, "Answers.{}", ["classmethod"], ("cls",)),
    "a bound method": _in_a_class("", None, "Answers().{}"),
    "a callable object": _in_a_class("", "__call__", "Answers()"),
    "a module": _in_a_class("(torch.nn.Module)", "forward", "Answers()"),
    "inherited": lambda one: [
        one.before, f"class Base:\n{one.defined(4, ['self'])}", "class Answers(Base):\n    pass", "mine = Answers()",
        one.checked(f"mine.{one.name}")],
    "a data class": lambda one: [
        "from dataclasses import dataclass", one.source,
        f"@dataclass\nclass Answer:\n    function: object = {one.name}\n\n    def __call__(self, *arguments):\n"
        "        return self.function(*arguments)", one.checked("Answer()")],
    "filled by append": lambda one: ["functions = []", one.source, f"functions.append({one.name})",
                                     one.checked("functions[0]")],
    "filled by a function": lambda one: [
        "functions = []", one.source, "def fill(place, function):\n    place.append(function)",
        f"fill(functions, {one.name})", one.checked("functions[0]")],
    "filled in a loop": lambda one: [
        "functions = []", one.source, f"for function in [{one.name}]:\n    functions.append(function)",
        one.checked("functions[0]")],
    "filled in a with": lambda one: [
        "functions = {}", one.source, f"with torch.no_grad():\n    functions.update(mine={one.name})",
        one.checked('functions["mine"]')],
    "changed in a with": lambda one: [
        "switch = torch.zeros(1)", one.source, "with torch.no_grad():\n    switch.fill_(1.0)",
        f"def answer(*arguments):\n    return {one.name}(*arguments) if switch > 0 else None", one.checked("answer")],
    "filled by a function in a loop": lambda one: [
        "functions = []", one.source, "def fill(place, function):\n    place.append(function)",
        f"for function in [{one.name}]:\n    fill(functions, function)", ASKED, one.checked("asked")],
    "filled by a function that knows where": lambda one: [
        "functions = []", one.source, "def fill(function):\n    functions.append(function)\n    return len(functions)",
        f"n = fill({one.name})", ASKED, one.checked("asked")],
    "filled by a keyword": lambda one: [
        "functions = []", one.source, "def fill(place, function):\n    place.append(function)",
        f"_ = fill(function={one.name}, place=functions)", ASKED, one.checked("asked")],
    "an item": lambda one: ["functions = {}", one.source, f'functions["mine"] = {one.name}',
                            one.checked('functions["mine"]')],
    "an attribute": lambda one: ["from types import SimpleNamespace", "mine = SimpleNamespace()", one.source,
                                 f"mine.answer = {one.name}", one.checked("mine.answer")],
    "a helper behind": lambda one: [
        f"def answer(*arguments):\n    return {one.name}(*arguments)", one.checked("answer"), one.source],
    "wrong first": lambda one: [f"def {one.name}(*arguments):\n    return torch.zeros(1)\n\n{one.checked()}",
                                f"{one.source}\n{one.checked()}"],
    "a walrus": lambda one: [one.source, one.checked(f"(answer := {one.name})"), "print(answer)"],
    "the last of a loop": lambda one: [
        one.source, f"for candidate in [None, {one.name}]:\n    answer = candidate", one.checked("answer")],
    "the best of a loop": lambda one: [
        one.source, f"answer = None\nfor candidate in [None, {one.name}, None]:\n    if candidate is not None:\n"
        "        answer = candidate", one.checked("answer")],
    "a star import": lambda one: ["from functools import *", one.source, f"answer = partial({one.name})",
                                  one.checked("answer")],
    "timed": lambda one: [f"%%time\n{one.source}\n{one.checked()}"],
    "magics and broken cells": lambda one: ["%matplotlib inline\n!ls", NO_PYTHON, "1 / 0", one.source,
                                            f"{one.name}?", f"{one.checked()}\n%timeit 1"],
    "unpacked": lambda one: [one.source, f"answer, *others = {one.name}, 1, 2", one.checked("answer")],
    "under a condition": lambda one: [
        one.before, f"if torch.cuda.device_count() >= 0:\n{one.defined(4)}\nelse:\n    {one.name} = None",
        one.checked()],
    "after a try": lambda one: [
        "try:\n    import no_such_module\nexcept ImportError:\n    no_such_module = None", one.source,
        f"def answer(*arguments):\n    assert no_such_module is None\n    return {one.name}(*arguments)",
        one.checked("answer")],
    "in a with": lambda one: ["import contextlib", one.before, f"with contextlib.nullcontext():\n{one.defined(4)}",
                              one.checked()],
    "an iterator": lambda one: [one.source, f"answers = iter([{one.name}])\nanswer = next(answers)",
                                one.checked("answer")],
    "awaited": lambda one: [one.source, f"async def make():\n    return {one.name}", "answer = await make()",
                            one.checked("answer")],
    "by NumPy": _numpy,
    "from a text": lambda one: [f"exec({one.source!r})", one.checked()],
    "from a file": lambda one: [f"%%writefile mine.py\n{one.source}", f"from mine import {one.name}", one.checked()],
}  # fmt: skip


@functools.cache
def lesson_cells(lesson: str) -> tuple[dict, ...]:
    """The cells of a lesson's notebook."""
    return tuple(json.loads((ROOT / "chapters" / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"])


@functools.cache
def solutions(lesson: str) -> dict[str, Solution]:
    """The printed solution of each of a lesson's exercises."""
    cells = [("".join(cell["source"]), cell["cell_type"]) for cell in lesson_cells(lesson)]
    printed = iter(SOLUTION.findall("\n".join(text for text, kind in cells if kind == "markdown")))
    checks = (CHECK.search(text) for text, kind in cells if kind == "code")
    exercises = chapter_exercises(lesson)
    return {check[1]: Solution(exercises[check[1]], next(printed)) for check in checks if check}


def written(way: str, lesson: str, path: Path) -> list[str]:
    """Write a lesson's notebook with each exercise solved in one way; returns which are."""
    cells, solved = [], []
    for cell in lesson_cells(lesson):
        text = "".join(cell["source"])
        check = CHECK.search(text)
        if cell["cell_type"] == "code" and check:
            own = WAYS[way](solutions(lesson)[check[1]])
            cells += own or []
            solved += [check[1]] if own else []
        elif cell["cell_type"] == "code":
            cells.append(text)
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}), encoding="utf-8")
    return solved


def graded(way: str, lesson: str, path: Path) -> dict[str, dict]:
    """What the grader says of each exercise of a lesson, solved in one way."""
    tasks = tuple(Task(exercise, 1.0, None) for exercise in written(way, lesson, path))
    return grade_one(Assignment((lesson,), tasks, "0", "", "00", None, 0.0), way, [path])["tasks"]


def main():
    start = time.perf_counter()
    places = [(way, lesson) for way in WAYS for lesson in LESSONS]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        paths = [Path(folder) / f"{number}.ipynb" for number in range(len(places))]
        results = list(pool.map(lambda place, path: graded(*place, path), places, paths))
    statuses, messages = defaultdict(Counter), defaultdict(set)
    for (way, _), tasks in zip(places, results, strict=True):
        for exercise, entry in tasks.items():
            statuses[way][entry["status"]] += 1
            if entry["status"] != "passed":
                messages[way].add(f"{exercise}: {entry['status']}: {entry['message']}"[:160])
    total = sum(statuses.values(), Counter())
    record = {
        "ways": len(WAYS),
        "exercises": sum(len(solutions(lesson)) for lesson in LESSONS),
        "answers": total.total(),
        "statuses": dict(total),
        "not passed": {way: dict(counts) for way, counts in statuses.items() if counts.keys() != {"passed"}},
        "seconds": round(time.perf_counter() - start, 1),
        "date": date.today().isoformat(),
    }
    (ROOT / "experiments" / "results" / "ways.json").write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps(record, indent=2))
    for way, told in messages.items():
        print(way, *sorted(told)[:5], sep="\n  ")


if __name__ == "__main__":
    main()
