"""Grading end to end: right answers pass however they are written, and no submission moves another's mark."""

# ruff: noqa: E501  (programs in one line each)

import csv
import gc
import importlib
import json
import os
import re
import socket
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest
import torch
from choosing import every_third, weekly
from here import Here

from attention_classroom import grading, installed
from attention_classroom.assign import assign
from attention_classroom.assignment import Assignment, Task
from attention_classroom.client import Asker, Stopped, _conversation, _Lent
from attention_classroom.grading import grade_all, grade_one, safe_name
from attention_classroom.handed_in import submissions
from attention_classroom.protocol import send
from attention_classroom.reports import write_reports
from attention_classroom.sandbox import landlock_version
from attention_classroom.submission import read
from attention_course.exercises import CHAPTERS

ROOT = Path(__file__).parents[2]
ways = importlib.import_module("ways")
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
JACOBIAN = "scale.softmax_jacobian"
START = "import torch\n\nfrom attention_course import check"
RIGHT = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p) - torch.outer(p, p)"
CHECK = f'check("{JACOBIAN}", answer)'
WRONG = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p - p * p)"


def made(*tasks, due=None, late_per_day=0.0):
    lessons = tuple(dict.fromkeys(task.exercise.split(".")[0] for task in tasks))
    return Assignment(lessons, tasks, "0", "", "00", due, late_per_day)


ONE = made(Task(JACOBIAN, 2, None))


def notebook(path, *cells):
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def result_of(student, **changed):
    """Of a student whose answer is right, but for what is `changed`, what `grade_one` gives."""
    task = {"status": "passed", "message": "Equal.", "misconception": None, "fingerprint": ""} | changed
    return {"student": student, "notes": [], "alone": True, "tasks": {JACOBIAN: task}}


@pytest.fixture
def verdict_on(tmp_path):
    """What a notebook of these cells gets for one exercise."""

    def verdict_on(*cells, exercise=JACOBIAN):
        path = notebook(tmp_path / "a.ipynb", *cells)
        return grade_one(made(Task(exercise, 2, None)), "someone", [path])["tasks"][exercise]

    return verdict_on


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


@pytest.mark.parametrize("lessons", [ways.LESSONS, weekly((CHAPTERS,))], ids=len)
def test_printed_solutions_earn_their_points_and_with_a_key_only_where_nothing_is_turned(lessons, tmp_path):
    paths = [solved(lesson, tmp_path / "one") for lesson in lessons]
    plain = assign(list(lessons), tmp_path / "plain", source=ROOT / "chapters")
    keyed = assign(list(lessons), tmp_path / "keyed", key="some", source=ROOT / "chapters")
    assert {task.exercise for task in plain.tasks} == earned(plain, paths)
    assert {task.exercise for task in keyed.tasks if task.variant is None} == earned(keyed, paths)


def earned(assignment, paths):
    """What one lesson's notebook each passes of an assignment."""
    passed = set()
    for path in paths:
        own = made(*(task for task in assignment.tasks if task.exercise.split(".")[0] == path.stem))
        tasks = grade_one(own, "somebody", [path])["tasks"]
        passed |= {name for name, task in tasks.items() if task["status"] == "passed"}
    return passed


WAYS = list(zip(ways.WAYS, cycle(ways.LESSONS), strict=False))


@pytest.mark.parametrize(("way", "lesson"), every_third(WAYS), ids=map(" | ".join, WAYS))
def test_a_right_answer_is_never_wrong_however_it_is_written(tmp_path, way, lesson):
    """One way on one exercise; `experiments/ways.py` tries each on all of six lessons."""
    exercise = ways.written(way, lesson, tmp_path / "a.ipynb")[-1]
    result = grade_one(made(Task(exercise, 1, None)), "someone", [tmp_path / "a.ipynb"])["tasks"][exercise]
    assert result["status"] == ("look yourself" if way in ways.LOOKED_AT else "passed"), result["message"]


def test_the_sample_has_thirty_ways_and_the_record_says_that_none_was_wrong():
    record = json.loads((ROOT / "experiments" / "results" / "ways.json").read_text(encoding="utf-8"))
    assert record["ways"] == len(ways.WAYS) >= 30
    assert record["answers"] == sum(record["statuses"].values()) > 12 * 30
    assert {way for way, counts in record["not passed"].items() if "look yourself" in counts} == ways.LOOKED_AT
    assert record["statuses"].keys() == {"passed", "look yourself"}


# How the printed solution of an exercise may call the function or the model that it is given.
LENT = {
    "a list by keyword": ("cache.write", "(unread, cache)", "(unread, cache=cache)"),
    "tensors by keyword": ("cross_attention.decoder_block", "(tokens, memory, memory_mask)",
                           "(mask=memory_mask, query=tokens, key=memory)"),
    "a copy of it": ("cache.write", "model(", "__import__('copy').copy(model)("),
    "all by keyword": ("classifiers.cls_vector", "(longer, F.pad", "(tokens=longer, mask=F.pad"),
}  # fmt: skip


@pytest.mark.parametrize(("exercise", "call", "other"), LENT.values(), ids=LENT.keys())
def test_a_function_that_was_lent_is_called_as_any_other(verdict_on, exercise, call, other):
    solution = ways.solutions(exercise.split(".")[0])[exercise]
    code = solution.source.replace(call, other)
    assert other in code
    start = f"{START}\nfrom torch.nn import functional as F"
    result = verdict_on(start, f"{code}\n{solution.checked()}", exercise=exercise)
    assert result["status"] == "passed", result["message"]


# What goes in a notebook, and not with a function that stays in the grader; and what is wrong everywhere.
ONLY_THERE = {
    "vmap": ("torch.vmap(gradient)(points)", "look yourself"),
    "jacrev": ("torch.func.jacrev(gradient)(points)[0]", "look yourself"),
    "its name": ("(print(gradient.__name__), gradient(points))[1]", "look yourself"),
    "too many arguments": ("gradient(points, steps)", "wrong"),
    "itself": ("points", "wrong"),
}


@pytest.mark.parametrize(("gradients", "status"), ONLY_THERE.values(), ids=ONLY_THERE.keys())
def test_what_only_a_notebook_lets_a_function_do_is_looked_at(verdict_on, gradients, status):
    answer = f"""def answer(gradient, x, baseline, steps):
    shares = (torch.arange(steps) + 0.5) / steps
    points = baseline + shares[:, None, None] * (x - baseline)
    return ((x - baseline) * {gradients}.mean(0)).sum(-1)"""
    exercise = "interpretability.integrated"
    result = verdict_on(START, f'{answer}\ncheck("{exercise}", answer)', exercise=exercise)
    assert result["status"] == status, result["message"]


def test_an_answer_may_take_its_numbers_from_autograd(verdict_on):
    answer = "def answer(x):\n    return torch.autograd.functional.jacobian(lambda s: s.softmax(0), x)"
    assert verdict_on(START, f"{answer}\n{CHECK}")["status"] == "passed"


def test_an_answer_may_keep_temporary_files(verdict_on):
    """PyTorch itself does: some of its versions make a folder at the first vmap."""
    answer = "def answer(x):\n    with tempfile.TemporaryDirectory():\n        return torch.diag(s := x.softmax(0)) - s.outer(s)"
    assert verdict_on(START, f"import tempfile\n{answer}\n{CHECK}")["status"] == "passed"


def test_an_answer_that_writes_into_what_must_stay_is_told_so_where_it_is_judged_apart(verdict_on):
    answer = "def answer(memory, other, place):\n    mixed = memory.detach()\n    mixed[:, place] = other[:, place]"
    cell = f'{answer}\n    return mixed\ncheck("alignment.exchange", answer)'
    assert verdict_on(START, cell, exercise="alignment.exchange")["misconception"] == "in place"


def test_a_name_that_is_missing_may_have_been_left_out_by_the_grader(verdict_on):
    """A name may be defined where nothing shows it, as `from_file` is by a cell that is not Python."""
    verdict = verdict_on(START, "def answer(x):\n    return from_file(x)\n\n" + CHECK)
    assert verdict["status"] == "look yourself" and "'from_file' is not defined" in verdict["message"]


SIGNED = f"def answer(x):\n    p = x.softmax(0)\n    return signs[0] * (p.diag() - torch.outer(p, p))\n{CHECK}"
UNREADABLE = {
    "a loop over checks": [START, RIGHT, f'for name, f in [("{JACOBIAN}", answer)]:\n    check(name, f)'],
    "a missing module": [START, f"import no_such\n\nanswer = no_such.answer\n{CHECK}"],
    "filled by a function": [START, "parts = []\n\n\ndef fill(x):\n    x.append(torch.outer)\n\n\nfill(parts)",
                             f"def answer(x):\n    p = x.softmax(0)\n    return p.diag() - parts[0](p, p)\n{CHECK}"],
    "taken by pop": [START, "signs = [3.0, 1.0]", "first = signs.pop(0)", SIGNED],
    "taken in a function": [START, "signs = [3.0, 1.0]", "def take():\n    first = signs.pop(0)", "take()", SIGNED],
    "taken by next": [START, "signs = iter([3.0, 1.0, *[1.0] * 99])\nfirst = next(signs)",
                      SIGNED.replace("signs[0]", "next(signs)")],
    "annotated": [START, "signs: list = [3.0, 1.0]", "first = signs.pop(0)", SIGNED],
    "filled, and kept": [START, "signs = torch.zeros(1)", "_ = torch.nn.init.ones_(signs)", SIGNED],
    "filled by a method": [START, "signs = torch.zeros(1)", "same = signs.fill_(1.0)", SIGNED],
    "a second name": [START, "signs = torch.zeros(1)", "view = signs[:]\nview += 1", SIGNED],
    "walked through": [START, "signs = [torch.zeros(1)]", "for sign in signs:\n    sign += 1", SIGNED],
    "a decorator": [START, "signs = []", "def register(function):\n    signs.append(1.0)\n    return function",
                    "@register\ndef mine():\n    pass", SIGNED],
    "a method as a decorator": [START, "signs = []", "@signs.append\ndef mine():\n    return 1.0",
                                SIGNED.replace("signs[0]", "signs[0]()")],
    "a syntax error around it": [START, f"def answer(x:\n    return\n{CHECK}"],
}  # fmt: skip


@pytest.mark.parametrize("cells", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_looked_at_and_never_wrong(verdict_on, cells):
    assert verdict_on(*cells)["status"] == "look yourself"


def test_what_is_only_looked_at_leaves_no_doubt(verdict_on):
    """Where nothing that is left out may have changed what a wrong answer uses, it is wrong."""
    looked_at = "print(signs[0])\nassert len(signs) == 2\nabove = signs[0] > 1\ntried = answer(torch.ones(2))"
    assert verdict_on(START, "signs = [3.0, 1.0]", SIGNED, looked_at)["status"] == "wrong"
    lambda_ = f"answer = lambda x: x\n{CHECK}\nprint(answer(torch.ones(2)), answer(torch.ones(3)).sum())"
    assert verdict_on(START, lambda_)["status"] == "wrong"


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
    "closes every descriptor": "import os\nos.closerange(0, 4096)",
    "crashes in C": "import ctypes\nctypes.string_at(0)",
    "kills its group": "import os\nos.killpg(0, 15)\nos.kill(0, 9)",
    "stops itself": "import os, signal\nif os.getpid() == 1:\n    os.kill(1, signal.SIGSTOP)",
    "hands its channel on": "import socket\nfor fd in range(3, 64):\n    try:\n        one = socket.socket(fileno=fd)\n"
    "        socket.send_fds(one, [b'x'], [fd])\n        one.detach()\n    except OSError:\n        pass",
    "exits from a thread in C": "import faulthandler, time\nfaulthandler.dump_traceback_later(0.001, exit=True)\ntime.sleep(1)",
    "takes all its rights": "import resource\nfor which in range(16):\n    try:\n        resource.setrlimit(which, (0, 0))\n"
    "    except (OSError, ValueError):\n        pass",
    "stops the clock": "import time\ntime.monotonic = time.time = lambda: 0.0\ntime.sleep = lambda seconds: None",
    "changes its inputs": "import sys\nf = sys._getframe()\nwhile f:\n    for value in list(f.f_locals.values()):\n"
    "        if isinstance(value, dict) and 'inputs' in value:\n            value['inputs'] = {'list': []}\n    f = f.f_back",
    "writes from a thread": "import os, threading\ndef write():\n    while True:\n        os.write(5, b'0' * 8)\n"
    "threading.Thread(target=write, daemon=True).start()",
    "without memory of its own": "def answer(x):\n    return torch.zeros(1).expand(2**20, 2**20)",
    "not a number": "def answer(x):\n    return torch.full((len(x), len(x)), torch.nan)",
    "infinite": "def answer(x):\n    return torch.full((len(x), len(x)), torch.inf)",
    "a number equal to all": "class A(float):\n    def __eq__(self, o):\n        return True\n\n\ndef answer(x):\n    return A()",
    "answers for PyTorch": "class A:\n    shape = (2, 2)\n    def __torch_function__(self, *a, **k):\n"
    "        return torch.tensor(True)\n\n\ndef answer(x):\n    return A()",
    "returns what it was given": "def answer(x):\n    x.zero_()\n    return x.expand(len(x), len(x))",
    "right every second time": "calls = []\n\n\ndef answer(x):\n    calls.append(1)\n    p = x.softmax(0)\n"
    "    return torch.diag(p) - torch.outer(p, p) if len(calls) % 2 else x",
    "no text": "def answer(x):\n    raise ValueError('\\ud800 \\x00 \\x1b[2J')",
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
    (folder / "x folder.ipynb").mkdir()
    os.mkfifo(folder / "x pipe.ipynb")
    notebook(folder / os.fsdecode(b"no text \xff.ipynb"), START, f"{RIGHT}\n{CHECK}")
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


def marks(out, name="grades.csv"):
    with (out / name).open(newline="", encoding="utf-8-sig") as file:
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
                       "x deep": "not a notebook", "x link": "not a file of its own",
                       "x pipe": "not a file of its own", "x folder.ipynb": ""}.items():  # fmt: skip
        assert note in rows[name]["notes"] and rows[name]["points"] == "0"
    assert rows[r"no text \udcff"]["points"] == "2"
    assert rows["'=x with a newline"]["points"] == "2"


def test_the_class_and_equal_answers_are_told(hostile_class):
    assert "**diagonal only**" in (hostile_class / "class.md").read_text()
    assert "00a, 01a" in (hostile_class / "identical.md").read_text()
    assert any("diagonal is right" in path.read_text() for path in (hostile_class / "feedback").iterdir())


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
def test_an_answer_writes_into_its_own_folder_only_and_reads_no_other_process(verdict_on, tmp_path):
    reach = f"""def reach():
    import os
    reached = []
    own = os.readlink("/proc/self")
    others = [f"/proc/{{pid}}/mem" for pid in os.listdir("/proc") if pid.isdigit() and pid != own]
    for path in [*others, {str(tmp_path / "a.ipynb")!r}, {str(tmp_path / "new")!r}, "mine", os.devnull]:
        try:
            open(path, "r+b" if path.endswith("mem") else "ab").close()
            reached.append(path)
        except OSError:
            pass
    return reached"""
    answer = "def answer(x):\n    raise ValueError(str(reach()))"
    message = verdict_on(START, reach, f"{answer}\n{CHECK}")["message"]
    assert "ValueError: ['mine', '/dev/null']\n" in message


@pytest.mark.parametrize(
    "code", ["while True:\n    pass", "sum(range(10**13))", "import time\ntime.sleep(99)",
             "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\ntime.sleep(99)"],
)  # fmt: skip
def test_an_answer_is_ended_with_all_that_it_started(code):
    """The channel is at its end only when nobody holds it any more; else there would be no answer at all."""
    asker = Asker(seconds=2)
    with pytest.raises(Stopped, match="was ended after 2 seconds"):
        asker.ask([code], "len", [(torch.ones(1),)], False, ())
    asker.close()


SLOW = {"its numbers": "len(patches) > 1", "its gradients": "patches.requires_grad"}


@pytest.mark.parametrize("condition", SLOW.values(), ids=SLOW.keys())
def test_an_answer_that_takes_too_long_is_stopped_and_not_wrong(verdict_on, condition):
    answer = f"""def answer(patches, words, W_q, W_k, W_v):
    while {condition}:
        pass
    weights = (words @ W_q) @ (patches @ W_k).mT
    return (weights / W_q.size(-1) ** 0.5).softmax(-1) @ (patches @ W_v)"""
    exercise = "cross_attention.caption"
    result = verdict_on(START, f'{answer}\ncheck("{exercise}", answer)', exercise=exercise)
    assert result["status"] == "stopped" and "no result after 5 seconds" in result["message"]


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
    ({"outcomes": {}}, "stopped"),
    ({"outcomes": {"list": [{}] * 12}}, "stopped"),
    ({"outcomes": "right", "gradients": None}, "wrong"),
    ({"outcomes": "right", "gradients": {"list": [1] * 12}}, "look yourself"),
    ({"outcomes": "right", "gradients": {"list": [{"tuple": []}] * 12}}, "look yourself"),
    ({"outcomes": "right", "gradients": "right"}, "look yourself"),
]


@pytest.mark.parametrize(("message", "status"), MESSAGES, ids=range(len(MESSAGES)))
def test_whatever_is_sent_in_the_place_of_numbers_earns_nothing_and_stops_nobody(verdict_on, message, status):
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
    return sys.modules["attention_class" + "room.protocol"].encode(value, None)

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
    assert verdict_on(cell, exercise="cross_attention.caption")["status"] == status


@pytest.mark.parametrize("message", [[1], "text", 1, None, {}])
def test_a_first_message_that_is_none_stops_one_answer_and_not_the_grader(message):
    mine, theirs = socket.socketpair()
    with mine, theirs:
        send(theirs, message)
        with pytest.raises(Stopped, match="what came is no answer"):
            _conversation(mine, {}, _Lent(), 1)


def test_an_answer_may_call_what_it_was_lent_and_look_no_deeper():
    lent, layer = _Lent(), torch.nn.Linear(2, 2)
    number, function = lent.keep(layer), lent.keep(made)
    assert lent.serve({"get": "in_features", "of": number}) == {"value": 2}
    hidden = ("__globals__", function), ("_parameters", number), ("register_forward_hook", number), (1, number)
    for name, of in hidden:
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
    cells = ["import torch", "import check_nothing", "torch.manual_seed(3)", "p = 5\nlong = sum(range(p))"]
    cells += [f"{RIGHT}\n{CHECK}"]
    answer = read(notebook(tmp_path / "a.ipynb", *cells), [JACOBIAN]).answers[JACOBIAN]
    assert answer.statements == ["import torch", RIGHT] and answer.expression == "answer"


def test_code_that_is_too_long_or_too_deep_is_told(tmp_path):
    for code, told in (("x = 1\n" * 50_000, "characters of code"), ("x = " + "-" * 20_000 + "1", "nested too deeply")):
        assert told in read(notebook(tmp_path / "a.ipynb", code), [JACOBIAN]).problem


def test_a_changed_notebook_is_judged_again(tmp_path):
    path, statuses = tmp_path / "a.ipynb", []
    for code in (WRONG, RIGHT, RIGHT):
        notebook(path, START, f"{code}\n{CHECK}")
        told = []
        (result,) = grade_all(ONE, {"a": [path]}, tmp_path / "kept", Here(), 1, lambda *now, to=told: to.append(now))
        statuses.append((result["tasks"][JACOBIAN]["status"], len(told)))
    assert statuses == [("wrong", 1), ("passed", 1), ("passed", 0)]


def test_another_package_judges_anew(tmp_path, monkeypatch):
    paths, told = {"a": [notebook(tmp_path / "a.ipynb", START, f"{RIGHT}\n{CHECK}")]}, []
    for commit in ("one", "one", "other"):
        monkeypatch.setattr(installed, "commit", lambda commit=commit: commit)
        grade_all(ONE, paths, tmp_path / "kept", Here(), 1, lambda *now, commit=commit: told.append(commit))
    assert told == ["one", "other"]


def test_references_and_grader_are_refused_by_name(verdict_on):
    for module in ("attention_course.exercises.scale", "attention_classroom.grading", "attention_course.classroom"):
        assert verdict_on(START, f"import {module}", f"{RIGHT}\n{CHECK}")["status"] == "refused"


def test_an_interrupted_run_goes_on_and_who_ended_it_twice_is_set_aside(tmp_path):
    paths = {name: [notebook(tmp_path / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")] for name in "abc"}
    kept, told = tmp_path / "kept", []
    grade_all(ONE, {"a": paths["a"]}, kept, Here(), 1, lambda *progress: None)
    (kept / f"{safe_name('b')}.begun").write_text("2")
    (kept / f"{safe_name('c')}.begun").write_text("1")
    results = grade_all(ONE, paths, kept, Here(), 1, lambda done, of, seconds: told.append((done, of)))
    assert told == [(1, 1)]
    assert [result["tasks"][JACOBIAN]["status"] for result in results] == ["passed", "look yourself", "passed"]
    assert not list(kept.glob("*.begun"))


def test_whom_the_instructor_interrupts_twice_is_judged_the_third_time(tmp_path):
    class Interrupted(Executor):
        def submit(self, function, *arguments):
            raise KeyboardInterrupt

    paths, kept = {"a": [notebook(tmp_path / "a.ipynb", START, f"{RIGHT}\n{CHECK}")]}, tmp_path / "kept"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            grade_all(ONE, paths, kept, Interrupted(), 1, lambda *progress: None)
    (result,) = grade_all(ONE, paths, kept, Here(), 1, lambda *progress: None)
    assert result["tasks"][JACOBIAN]["status"] == "passed"


def test_what_goes_wrong_in_the_grader_concerns_one_student(tmp_path, monkeypatch):
    paths = {name: [notebook(tmp_path / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")] for name in "abc"}
    raised = {"b": ZeroDivisionError("why")}
    real = grading.read

    def read_or_raise(path, exercises):
        if path.stem in raised:
            raise raised[path.stem]
        return real(path, exercises)

    monkeypatch.setattr(grading, "read", read_or_raise)
    results = grade_all(ONE, paths, tmp_path / "kept", Here(), 1, lambda *progress: None)
    assert [one["tasks"][JACOBIAN]["status"] for one in results] == ["passed", "look yourself", "passed"]
    assert [one["notes"] for one in results] == [[], ["the grader failed: ZeroDivisionError: why"], []]
    raised.clear()  # what was wrong may be gone the next time
    results = grade_all(ONE, paths, tmp_path / "kept", Here(), 1, lambda *progress: None)
    assert [one["tasks"][JACOBIAN]["status"] for one in results] == ["passed"] * 3
    raised["c"] = BrokenExecutor()  # that is nobody's fault: the run ends, and can go on
    with pytest.raises(BrokenExecutor):
        grade_all(ONE, paths, tmp_path / "again", Here(), 1, lambda *progress: None)


def test_a_result_that_is_changed_in_its_file_while_others_run_changes_no_mark(tmp_path):
    paths = {name: [notebook(tmp_path / f"{name}.ipynb", START, f"{WRONG}\n{CHECK}")] for name in "ab"}
    kept = tmp_path / "kept"

    def change(done, of, seconds):
        for path in kept.glob("*.json"):
            path.write_text(path.read_text().replace('"wrong"', '"passed"'))

    results = grade_all(ONE, paths, kept, Here(), 1, change)
    assert [one["tasks"][JACOBIAN]["status"] for one in results] == ["wrong", "wrong"]


# Cells that Python or IPython refuse, or that once took minutes; the answer is in another.
ODD = {
    "two arguments of one name": ("def f(a, a):\n    pass", "passed"),
    "no text": ("x = '\ud800'", "passed"),
    "a zero byte": ("x = '\0'", "passed"),
    "a number without end": ("x = 0x" + "f" * 10_000, "not found"),
    "hundreds of magics": ("!ls\n" * 700, "not found"),
    "thousands of changes": ("y = 0\n" + "y += z\n" * 4_000, "passed"),
}


@pytest.mark.parametrize(("cell", "status"), ODD.values(), ids=ODD.keys())
def test_an_odd_cell_stops_nobody(verdict_on, cell, status):
    assert verdict_on(START, cell, f"{RIGHT}\n{CHECK}")["status"] == status


def test_twice_as_many_changes_are_read_in_twice_as_many_steps(tmp_path):
    """Not in four times as many: notebooks may have thousands of lines."""

    def calls(lines):
        path, count = notebook(tmp_path / "a.ipynb", "y = 0\n" + "y += z\n" * lines, f"{RIGHT}\n{CHECK}"), []
        sys.setprofile(lambda frame, event, argument: count.append(event))
        try:
            read(path, [JACOBIAN])
        finally:
            sys.setprofile(None)
        return len(count)

    assert calls(2_000) < 2.1 * calls(1_000)


def test_tables_are_as_canvas_and_moodle_import_them(tmp_path):
    names = ("byronada_77", "Ada Byron_123", "plain")
    write_reports(ONE, [result_of(name) for name in names], tmp_path, {})
    assert (tmp_path / "canvas.csv").read_text().splitlines() == [
        "Student,ID,SIS User ID,SIS Login ID,Section,scale", "Points Possible,,,,,2",
        "byronada,77,,,,2", "Ada Byron,123,,,,2", "plain,,,,,2",
    ]  # fmt: skip
    assert (tmp_path / "moodle.csv").read_text().splitlines() == [
        "Identifier,Grade,Last modified (grade)", "Participant 77,2,", "Participant 123,2,",
    ]  # fmt: skip


def test_students_are_found_as_moodle_and_canvas_name_them(tmp_path):
    names = ["Ada Byron_123_assignsubmission_file_/scale.ipynb", "byronada_77_9901_scale.ipynb", "plain.ipynb"]
    names += ["byronada_LATE_77_9955_masking.ipynb", "CAPITALS.IPYNB"]
    names += ["homework_3_1_ada.ipynb", "homework_3_1_bob.ipynb"]
    names += ["group_1_200_red/scale.ipynb", "group_1_200_blue/scale.ipynb"]
    nobodys = ["__MACOSX/._plain.ipynb", ".ipynb_checkpoints/plain-checkpoint.ipynb", "._plain.ipynb"]
    nobodys += ["group_1_200_red/.ipynb_checkpoints/scale-checkpoint.ipynb"]
    for name in names + nobodys:
        notebook(tmp_path / name)
    found = submissions(tmp_path)
    assert sorted(found) == [
        "Ada Byron_123", "CAPITALS", "byronada_77", "group_1_200_blue", "group_1_200_red", "homework_3_1_ada",
        "homework_3_1_bob", "plain",
    ]  # fmt: skip
    assert {student: len(paths) for student, paths in found.items() if len(paths) != 1} == {"byronada_77": 2}
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="submissions must be a folder with notebooks"):
        submissions(tmp_path / "empty")


@pytest.mark.parametrize("answers", [(RIGHT, WRONG), (WRONG, RIGHT)])
def test_of_several_notebooks_the_best_answer_counts(tmp_path, answers):
    paths = [notebook(tmp_path / f"{n}.ipynb", START, f"{answer}\n{CHECK}") for n, answer in enumerate(answers)]
    assert grade_one(ONE, "someone", paths)["tasks"][JACOBIAN]["status"] == "passed"


def test_inputs_differ_by_student(tmp_path):
    """An answer that returns stored numbers passes for nobody: two students see two first inputs."""
    paths = [notebook(tmp_path / "a.ipynb", START, f"def answer(x):\n    return x\n\n{CHECK}")]
    told = {grade_one(ONE, student, paths)["tasks"][JACOBIAN]["message"] for student in ("a", "b")}
    assert len(told) == 2
