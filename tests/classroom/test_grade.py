"""Grading end to end: right answers pass however they are written, and no submission moves another's mark."""

# ruff: noqa: E501  (programs in one line each)

import csv
import gc
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from attention_course.classroom.asking import Asker, Stopped, _Lent
from attention_course.classroom.assign import assign
from attention_course.classroom.assignment import Assignment, Task
from attention_course.classroom.grading import grade_all, grade_one, safe_name, submissions
from attention_course.classroom.reports import days_late, write_reports
from attention_course.classroom.submission import read
from attention_course.exercises import CHAPTERS

ROOT = Path(__file__).parents[2]
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
JACOBIAN = "scale.softmax_jacobian"
START = "import torch\n\nfrom attention_course import check"
RIGHT = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p) - torch.outer(p, p)"
CHECK = f'check("{JACOBIAN}", answer)'
WRONG = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p - p * p)"


def made(*tasks):
    lessons = tuple(dict.fromkeys(task.exercise.split(".")[0] for task in tasks))
    return Assignment(lessons, tasks, "0", "", "00", None, 0.0)


ONE = made(Task(JACOBIAN, 2, None))


def notebook(path, *cells):
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


@pytest.fixture
def verdict_on(tmp_path):
    return lambda *cells: grade_one(ONE, "someone", [notebook(tmp_path / "a.ipynb", *cells)])["tasks"][JACOBIAN]


def solved(lesson, folder):
    """A lesson with each printed solution in the place of its stub."""
    lesson_cells = json.loads((ROOT / "chapters" / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in lesson_cells if cell["cell_type"] == "markdown")
    solutions, cells = iter(SOLUTION.findall(text)), []
    for cell in lesson_cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            call = re.search(r'^check\("[\w.]+",.*', source, re.MULTILINE)
            cells.append(next(solutions) + call[0] if call else source)
    return notebook(folder / f"{lesson}.ipynb", *cells)


def test_every_printed_solution_earns_its_points_and_with_a_key_only_where_nothing_is_turned(tmp_path):
    paths = [solved(lesson, tmp_path / "one") for lesson in CHAPTERS]
    plain = assign(list(CHAPTERS), tmp_path / "plain", source=ROOT / "chapters")
    keyed = assign(list(CHAPTERS[::6]), tmp_path / "keyed", key="some", source=ROOT / "chapters")
    with ThreadPoolExecutor(2) as pool:
        by_lesson = [
            list(pool.map(lambda path, one=one: grade_one(_only(one, path.stem), "somebody", [path]), paths[::step]))
            for one, step in ((plain, 1), (keyed, 6))
        ]
    statuses = [
        {name: task["status"] for result in results for name, task in result["tasks"].items()} for results in by_lesson
    ]
    assert [name for name, status in statuses[0].items() if status != "passed"] == []
    passed = {name for name, status in statuses[1].items() if status == "passed"}
    assert passed == {task.exercise for task in keyed.tasks if task.variant is None}


def _only(assignment, lesson):
    return made(*(task for task in assignment.tasks if task.exercise.split(".")[0] == lesson))


WAYS = {
    "as it was meant": [START, f"{RIGHT}\n{CHECK}"],
    "an alias of check": ["import torch\nfrom attention_course import check as c", f'{RIGHT}\nc("{JACOBIAN}", answer)'],
    "the package's own": ["import torch, attention_course", f'{RIGHT}\nattention_course.check("{JACOBIAN}", answer)'],
    "another name": [START, f'test = check\n{RIGHT}\ntest("{JACOBIAN}", answer)'],
    "keywords": [START, f'{RIGHT}\nverdict = check(answer=answer, exercise_id="{JACOBIAN}")\nprint(verdict)'],
    "in a function call": [START, f"{RIGHT}\nprint({CHECK})"],
    "append": [START, "parts = []\nparts.append(torch.diag)\nparts.append(torch.outer)",
               f"def answer(x):\n    p = x.softmax(0)\n    return parts[0](p) - parts[1](p, p)\n{CHECK}"],
    "item assignment": [START, "f = {}", "f['diag'] = torch.diag",
                        f"def answer(x):\n    p = x.softmax(0)\n    return f['diag'](p) - torch.outer(p, p)\n{CHECK}"],
    "a class": [START, "class Answer:\n    def __call__(self, x):\n        p = x.softmax(0)\n"
                f"        return p.diag() - p[:, None] * p\n\n\nanswer = Answer()\n{CHECK}"],
    "a module": [START, "class A(torch.nn.Module):\n    def forward(self, x):\n        p = x.softmax(0)\n"
                 f"        return p.diag() - p[:, None] * p\n\n\nanswer = A()\n{CHECK}"],
    "a lambda": [START, f'check("{JACOBIAN}", lambda x: torch.diag(x.softmax(0)) - x.softmax(0)[:, None] * x.softmax(0))'],
    "numpy": ["import numpy as np\n" + START, "def answer(x):\n    p = x.softmax(0).numpy()\n"
              f"    return np.diag(p) - np.outer(p, p)\n{CHECK}"],
    "autograd": [START, "def answer(x):\n    return torch.autograd.functional.jacobian(lambda s: s.softmax(0), x)\n" + CHECK],
    "magics and errors elsewhere": ["%matplotlib inline\n!ls", START, "1 / 0", "def (:", f"%%time\n{RIGHT}\n{CHECK}"],
    "a helper behind": [START, f"def answer(x):\n    return helper(x)\n\n{CHECK}", RIGHT.replace("answer", "helper")],
    "wrong first": [START, f"{WRONG}\n{CHECK}", f"{RIGHT}\n{CHECK}"],
    "a partial": ["from functools import partial\n" + START,
                  f"def two(x, y):\n    p = x.softmax(0)\n    return p.diag() - y * p[:, None] * p\nanswer = partial(two, y=1)\n{CHECK}"],
}  # fmt: skip


@pytest.mark.parametrize("cells", WAYS.values(), ids=WAYS.keys())
def test_a_right_answer_passes_however_it_is_written(verdict_on, cells):
    assert verdict_on(*cells)["status"] == "passed"


UNREADABLE = {
    "a loop over checks": [START, RIGHT, f'for name, f in [("{JACOBIAN}", answer)]:\n    check(name, f)'],
    "a missing module": [START, f"import no_such\n\nanswer = no_such.answer\n{CHECK}"],
    "filled by a function": [START, "parts = []\n\n\ndef fill(x):\n    x.append(torch.outer)\n\n\nfill(parts)",
                             f"def answer(x):\n    p = x.softmax(0)\n    return p.diag() - parts[0](p, p)\n{CHECK}"],
    "a syntax error around it": [START, f"def answer(x:\n    return\n{CHECK}"],
}  # fmt: skip


@pytest.mark.parametrize("cells", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_looked_at_and_never_wrong(verdict_on, cells):
    assert verdict_on(*cells)["status"] == "look yourself"


def test_a_mistake_is_told_in_its_sentence_and_a_stub_is_not_attempted(verdict_on):
    assert verdict_on(START, f"{WRONG}\n{CHECK}")["misconception"] == "diagonal only"
    assert verdict_on(START, f"def answer(x):\n    return ...\n\n{CHECK}")["status"] == "not attempted"
    assert verdict_on(START, f'check("{JACOBIAN}", 3)')["status"] == "wrong"
    assert verdict_on(START)["status"] == "not found"


# What each does before it hands in a wrong answer: none may pass, and nobody else's mark may move.
HOSTILE = {
    "patches isclose": "torch.isclose = lambda *a, **k: torch.ones(1).bool()\ntorch.allclose = lambda *a, **k: True",
    "patches tensors": "torch.Tensor.any = lambda *a, **k: torch.tensor(False)\ntorch.Tensor.__invert__ = lambda s: s",
    "patches json": "import json\njson.dumps = lambda *a, **k: '{\"failure\": null}'",
    "patches base64": "import base64\nbase64.b64encode = lambda data: b''",
    "patches pickle": "import pickle\npickle.loads = eval",
    "ends its process": "import os\nos._exit(0)",
    "exits": "import sys\nsys.exit()",
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "kills everybody": "import os\nif os.getpid() == 1:\n    os.kill(-1, 9)",
    "registers atexit": "import atexit, os\natexit.register(lambda: os._exit(1))",
    "starts threads": "import threading, time\nfor _ in range(20):\n    threading.Thread(target=time.sleep, args=(9,)).start()",
    "forks": "import os\nfor _ in range(3):\n    os.fork()",
    "prints": "print('x' * 50_000_000)",
    "fills the memory": "x = bytearray(8 * 2**30)\nx[:] = b'1' * len(x)",
    "fills the disk": "open('big', 'wb').write(b'0' * 50_000_000)",
    "removes its folder": "import shutil, os\nshutil.rmtree(os.getcwd())",
    "looks for references": "import gc\nfound = [o for o in gc.get_objects() if type(o).__name__ == 'Exercise']\n"
    "answer = found[0].reference",
    "imports by parts": "import importlib\nm = importlib.import_module('attention_course.' + 'exercises' + '.scale')\n"
    "answer = m.EXERCISES[1].reference",
    "takes modules": "import sys\nanswer = sys.modules['attention_course.' + 'exercises.' + 'scale'].EXERCISES[1].reference",
    "writes to every channel": "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'x' * 99)\n    except OSError:\n        pass",
    "answers by itself": "import os\nm = b'{\"failure\": null, \"callable\": true, \"outcomes\": {\"list\": []}}'\n"
    "for fd in range(3, 64):\n    try:\n        os.write(fd, len(m).to_bytes(8, 'big') + m)\n    except OSError:\n        pass",
    "a huge message": "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, (2**60).to_bytes(8, 'big'))\n    except OSError:\n        pass",
    "frames": "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.clear() if f.f_globals.get('x') else None\n    f = f.f_back",
    "equal to everything": "class A(torch.Tensor):\n    def __eq__(self, o):\n        return True\n\n\n"
    "def answer(x):\n    return torch.zeros(len(x), len(x)).as_subclass(A)",
    "opens the network": "import socket\nsocket.create_connection(('1.1.1.1', 53), 1)",
    "raises the base": "def answer(x):\n    raise BaseException('no')",
    "recursion": "def answer(x):\n    return answer(x)",
    "changes the seed": "torch.manual_seed(0)\ntorch.set_default_dtype(torch.float64)",
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory):
    """Everybody of `HOSTILE`, odd files among them, and somebody honest before and after each."""
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("marks")
    for place, (name, before) in enumerate(HOSTILE.items()):
        cell = f"{START}\n{before}" if "def answer" in before or "answer =" in before else f"{START}\n{before}\n{WRONG}"
        # Kept as one block, so that the answer needs it.
        block = "if True:\n" + "\n".join("    " + line for line in cell.splitlines())
        notebook(folder / f"{place:02}b {name}.ipynb", block, f"{START}\n{CHECK}")
        notebook(folder / f"{place:02}a.ipynb", START, f"{RIGHT}\n{CHECK}")
    (folder / "x broken.ipynb").write_text('{"cells": [')
    (folder / "x list.ipynb").write_text("[1]")
    (folder / "x.ipynb").write_bytes(b"%PDF-1.7\x00\xff")
    (folder / "x deep.ipynb").write_text("[" * 100_000)
    (folder / "x link.ipynb").symlink_to(folder / "00a.ipynb")
    notebook(folder / "=x\nwith a newline.ipynb", START, f"{RIGHT}\n{CHECK}")
    ran = subprocess.run(
        [sys.executable, "-m", "attention_course", "grade", _saved(folder.parent), folder, "--out", out],
        capture_output=True, text=True, cwd=ROOT, timeout=500,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return out


def _saved(folder):
    path = folder / "assignment.json"
    ONE.save(path)
    return path


def marks(out):
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_no_hostile_submission_passes(hostile_class):
    rows = {name: row for name, row in marks(hostile_class).items() if re.match(r"\d\db", name)}
    assert len(rows) == len(HOSTILE)
    assert {name: row[JACOBIAN] for name, row in rows.items() if float(row["points"])} == {}


def test_no_honest_mark_moves(hostile_class):
    rows = {name: row for name, row in marks(hostile_class).items() if re.fullmatch(r"\d\da", name)}
    assert len(rows) == len(HOSTILE)
    assert {name: row[JACOBIAN] for name, row in rows.items() if row["points"] != "2"} == {}


def test_odd_files_are_told_and_names_are_made_harmless(hostile_class):
    rows = marks(hostile_class)
    for name, note in {"x broken": "not a notebook", "x": "not a notebook", "x list": "not a notebook",
                       "x deep": "not a notebook", "x link": "not a file of its own"}.items():  # fmt: skip
        assert note in rows[name]["notes"] and rows[name]["points"] == "0"
    assert rows["'=x with a newline"]["points"] == "2"


def test_the_class_and_equal_answers_are_told(hostile_class):
    assert "**diagonal only**" in (hostile_class / "class.md").read_text()
    assert "00a, 01a" in (hostile_class / "identical.md").read_text()
    assert any("diagonal is right" in path.read_text() for path in (hostile_class / "feedback").iterdir())


@pytest.mark.parametrize(
    "code", ["while True:\n    pass", "sum(range(10**13))", "import time\ntime.sleep(99)",
             "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\ntime.sleep(99)"],
)  # fmt: skip
def test_an_answer_is_ended_with_all_that_it_started(code):
    """The channel is at its end only when nobody holds it any more."""
    asker, start = Asker(seconds=2), time.monotonic()
    with pytest.raises(Stopped, match="was ended after 2 seconds"):
        asker.ask([code], "len", [(torch.ones(1),)], False)
    asker.close()
    assert time.monotonic() - start < 20


# What an answer's process may send in the place of what it should.
MESSAGES = [
    ({"outcomes": {"list": ["text"] * 12}}, "look yourself"),
    ({"outcomes": {"list": [{"dict": []}] * 12}}, "look yourself"),
    ({"outcomes": {"list": [10**4000] * 12}}, "look yourself"),
    ({"outcomes": {"list": [{"tensor": "float32", "shape": [3], "data": ""}] * 12}}, "stopped"),
    ({"outcomes": {"list": [{"tensor": "float32", "shape": [0, 2**60], "data": ""}] * 12}}, "wrong"),
    ({"outcomes": {"list": [{"object": 0}] * 12}}, "stopped"),
    ({"outcomes": {"list": []}}, "stopped"),
    ({"outcomes": {"dict": [[{"list": []}, 1]]}}, "stopped"),
    ({"outcomes": [1]}, "stopped"),
    ({"outcomes": "right", "gradients": None}, "wrong"),
    ({"outcomes": "right", "gradients": {"list": [1] * 12}}, "look yourself"),
    ({"outcomes": "right", "gradients": {"list": [{"tuple": []}] * 12}}, "look yourself"),
    ({"outcomes": "right", "gradients": "right"}, "look yourself"),
]


@pytest.mark.parametrize(("message", "status"), MESSAGES, ids=range(len(MESSAGES)))
def test_whatever_is_sent_in_the_place_of_numbers_earns_nothing_and_stops_nobody(tmp_path, message, status):
    """The answer is right where the message says so, in an exercise whose gradients count."""
    message = {"failure": None, "callable": True} | message
    cell = f"""import json, os, torch
from attention_course import check

def answer(patches, words, W_q, W_k, W_v):
    weights = (words @ W_q) @ (patches @ W_k).mT
    return (weights / W_q.size(-1) ** 0.5).softmax(-1) @ (patches @ W_v)

message = json.loads({json.dumps(json.dumps(message))})
def encoded(value):
    import sys
    return sys.modules["attention_course.class" + "room.wire"].encode(value, None)

class Sent:
    outcomes = []
    def __call__(self, *arguments):
        with torch.no_grad():
            self.outcomes.append(encoded(answer(*arguments)))
        if len(self.outcomes) == 12:
            for kind in ("outcomes", "gradients"):
                if message.get(kind) == "right":
                    message[kind] = {{"list": self.outcomes}}
            data = json.dumps(message).encode()
            for fd in range(3, 64):
                try:
                    os.write(fd, len(data).to_bytes(8, "big") + data)
                except OSError:
                    pass
            os._exit(0)
        return torch.zeros(1)

check("cross_attention.caption", Sent())
"""
    path = notebook(tmp_path / "a.ipynb", cell)
    result = grade_one(made(Task("cross_attention.caption", 1, None)), "a", [path])
    assert result["tasks"]["cross_attention.caption"]["status"] == status


def test_an_answer_may_call_what_it_was_lent_and_look_no_deeper():
    lent, layer = _Lent(), torch.nn.Linear(2, 2)
    number, function = lent.keep(layer), lent.keep(made)
    assert lent.serve({"get": "in_features", "of": number}) == {"value": 2}
    for name, of in (
        ("__globals__", function),
        ("_parameters", number),
        ("register_forward_hook", number),
        (1, number),
    ):
        assert "error" in lent.serve({"get": name, "of": of}), name
    assert "error" in lent.serve({"get": "bias", "of": 99})


@pytest.fixture
def restless():
    """Threads that take turns as often as they can, in the middle of building a syntax tree too."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    gc.callbacks.append(_let_another_run)
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    gc.freeze()  # what is there already would be looked at each time
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)
    gc.callbacks.remove(_let_another_run)


def _let_another_run(phase, info):
    sum(range(200))


@pytest.mark.usefixtures("restless")
def test_notebooks_are_read_in_several_threads(tmp_path):
    path = notebook(tmp_path / "a.ipynb", *(f"def f{number}(x):\n    return [x, [x + 1]]" for number in range(99)))
    with ThreadPoolExecutor(4) as pool:
        assert {one.problem for one in pool.map(lambda _: read(path, [JACOBIAN]), range(12))} == {""}


def test_only_what_an_answer_needs_is_run(tmp_path):
    cells = [
        "import torch",
        "import check_nothing",
        "torch.manual_seed(3)",
        "p = 5\nlong = sum(range(p))",
        f"{RIGHT}\n{CHECK}",
    ]
    answer = read(notebook(tmp_path / "a.ipynb", *cells), [JACOBIAN]).answers[JACOBIAN]
    assert answer.statements == ["import torch", RIGHT] and answer.expression == "answer"


def test_code_that_is_too_long_or_too_deep_is_told(tmp_path):
    for code, told in (("x = 1\n" * 50_000, "characters of code"), ("x = " + "-" * 20_000 + "1", "nested too deeply")):
        assert told in read(notebook(tmp_path / "a.ipynb", code), [JACOBIAN]).problem


def test_a_changed_notebook_is_judged_again(tmp_path):
    path, statuses = tmp_path / "a.ipynb", []
    for code in (WRONG, RIGHT, RIGHT):
        notebook(path, START, f"{code}\n{CHECK}")
        with ThreadPoolExecutor(1) as pool:
            told = []
            (result,) = grade_all(ONE, {"a": [path]}, tmp_path / "kept", pool, 1, lambda *now, to=told: to.append(now))
        statuses.append((result["tasks"][JACOBIAN]["status"], len(told)))
    assert statuses == [("wrong", 1), ("passed", 1), ("passed", 0)]


def test_references_and_grader_are_refused_by_name(verdict_on):
    for module in ("attention_course.exercises.scale", "attention_course.classroom.grading"):
        assert verdict_on(START, f"import {module}", f"{RIGHT}\n{CHECK}")["status"] == "refused"


def test_an_interrupted_run_goes_on_and_who_ended_it_twice_is_set_aside(tmp_path):
    paths = {name: [notebook(tmp_path / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")] for name in "abc"}
    kept, told = tmp_path / "kept", []
    with ThreadPoolExecutor(1) as pool:
        grade_all(ONE, {"a": paths["a"]}, kept, pool, 1, lambda *progress: None)
        (kept / f"{safe_name('b')}.begun").write_text("2")
        (kept / f"{safe_name('c')}.begun").write_text("1")
        results = grade_all(ONE, paths, kept, pool, 1, lambda done, of, seconds: told.append((done, of)))
    assert told == [(1, 1)]
    assert [result["tasks"][JACOBIAN]["status"] for result in results] == ["passed", "look yourself", "passed"]
    assert not list(kept.glob("*.begun"))


def test_students_are_found_as_moodle_and_canvas_name_them(tmp_path):
    for name in ("Ada Byron_123_assignsubmission_file_/scale.ipynb", "byronada_77_9901_scale.ipynb", "plain.ipynb"):
        notebook(tmp_path / name)
    assert sorted(submissions(tmp_path)) == ["Ada Byron_123", "byronada_77", "plain"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="submissions must be a folder with notebooks"):
        submissions(tmp_path / "empty")


def test_late_days_cost_their_share(tmp_path):
    late = Assignment(("scale",), ONE.tasks, "0", "", "00", "2027-03-01T18:00+01:00", 0.25)
    assert days_late(late, "2027-03-01T17:00+00:00") == 0
    assert days_late(late, "2027-03-01T17:01+00:00") == 1
    entry = {"status": "passed", "message": "Equal.", "misconception": None, "fingerprint": ""}
    result = {"student": "a", "notes": [], "alone": True, "tasks": {JACOBIAN: entry}}
    write_reports(late, [result], tmp_path, {"a": "2027-03-03T00:00+01:00"})
    assert marks(tmp_path)["a"]["points"] == "1"
    assert not list(tmp_path.rglob("*.new"))


def test_inputs_differ_by_student(tmp_path):
    """An answer that returns stored numbers passes for nobody: two students see two first inputs."""
    paths = [notebook(tmp_path / "a.ipynb", START, f"def answer(x):\n    return x\n\n{CHECK}")]
    told = {grade_one(ONE, student, paths)["tasks"][JACOBIAN]["message"] for student in ("a", "b")}
    assert len(told) == 2
