"""Grading end to end: right answers pass however they are written, and no submission moves another's mark."""

# ruff: noqa: E501  (programs in one line each)

import csv
import importlib
import json
import os
import re
import socket
import sys
import time
from concurrent.futures import BrokenExecutor, Executor
from itertools import cycle
from pathlib import Path

import pytest
import torch
from choosing import every_third, weekly
from here import Here

from attention_classroom import client, grading, installed, judging
from attention_classroom.assign import assign
from attention_classroom.assignment import Assignment, Task
from attention_classroom.client import Asker, Stopped
from attention_classroom.grading import grade_all, grade_one, safe_name
from attention_classroom.handed_in import submissions
from attention_classroom.lent_functions import NUMBERS, Lent
from attention_classroom.protocol import encode, send
from attention_classroom.reports import write_reports
from attention_classroom.sandbox import PROMISES
from attention_classroom.submission import read
from attention_classroom.words import LONGEST, cut, fit_to_show
from attention_course.exercises import CHAPTERS
from attention_course.exercises.judging.running import NoNumbers

ROOT = Path(__file__).parents[2]
ways = importlib.import_module("ways")
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
JACOBIAN = "scale.softmax_jacobian"
START = "import torch\n\nfrom attention_course import check"
RIGHT = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p) - torch.outer(p, p)"
CHECK = f'check("{JACOBIAN}", answer)'
WRONG = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p - p * p)"


def made(*tasks, due=None, late_per_day=0.0, partial=False):
    lessons = tuple(dict.fromkeys(task.exercise.split(".")[0] for task in tasks))
    return Assignment(lessons, tasks, "0", "", "00", due, late_per_day, partial)


ONE = made(Task(JACOBIAN, 2, None))


def notebook(path, *cells):
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def result_of(student, **changed):
    """Of a student whose answer is right, but for what is `changed`, what `grade_one` gives."""
    task = {"status": "passed", "message": "Equal.", "misconception": None, "share": 0.0, "fingerprint": ""} | changed
    return {"student": student, "notes": [], "lacks": [], "tasks": {JACOBIAN: task}}


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
    "no Python, but for the answer": [START, RIGHT, f"print('checked:'\n{CHECK}"],
    "and by keyword": [START, RIGHT.replace("answer", "mine"), f'f(:\ncheck("{JACOBIAN}", answer=mine)'],
    "and without its name": [START, f'{RIGHT}\nf(:\ncheck(answer=answer, exercise_id="{JACOBIAN}")'],
    "no Python, and a loop": [START, f"f(:\n{CHECK}", f'for name in ["{JACOBIAN}"]:\n    check(name, mine)'],
}  # fmt: skip


@pytest.mark.parametrize("cells", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_looked_at_and_never_wrong(verdict_on, cells):
    assert verdict_on(*cells)["status"] == "look yourself"


def test_what_is_only_looked_at_leaves_no_doubt(verdict_on):
    """Where nothing that is left out may have changed what a wrong answer uses, it is wrong."""
    looked_at = "print(signs[0])\nassert len(signs) == 2\nabove = signs[0] > 1\ntried = answer(torch.ones(2))"
    counted = "class Total:\n    total = sum(signs)\n\n\nTotal()"
    assert verdict_on(START, "signs = [3.0, 1.0]", SIGNED, looked_at, counted)["status"] == "wrong"
    lambda_ = f"answer = lambda x: x\nbool({CHECK})\nprint(answer(torch.ones(2)), answer(torch.ones(3)).sum())"
    assert verdict_on(START, lambda_)["status"] == "wrong"


def test_a_mistake_is_told_in_its_sentence_and_a_stub_is_not_attempted(verdict_on):
    assert verdict_on(START, f"{WRONG}\n{CHECK}")["misconception"] == "diagonal only"
    assert verdict_on(START, f"def answer(x):\n    return ...\n\n{CHECK}")["status"] == "not attempted"
    assert verdict_on(START, f'check("{JACOBIAN}", 3)')["status"] == "wrong"
    assert verdict_on(START)["status"] == "not found"


def marks(out, name="grades.csv"):
    with (out / name).open(newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def asker():
    """Whom answers are asked of that have one second."""
    asker = Asker(seconds=1)
    yield asker
    asker.close()


@pytest.mark.parametrize("code", ["while True:\n    pass", "sum(range(10**13))", "import time\ntime.sleep(99)"])
def test_an_answer_is_ended_in_time(asker, code):
    with pytest.raises(Stopped, match="was ended after 1 seconds|no answer after 2 seconds"):
        asker.ask([code], "len", [(torch.ones(1),)], False, ())


def test_an_answer_is_ended_once_it_has_answered(asker):
    """It would keep its memory while the next ones run."""
    told = "import os, time\nlength = (24).to_bytes(8, 'big')\nfor fd in range(3, 9):\n    try:\n"
    told += "        os.write(fd, length + b'{\"failure\": \"by itself\"}')\n    except OSError:\n        pass\ntime.sleep(99)"
    start = time.monotonic()
    for _ in range(3):
        assert asker.ask([told], "len", [(torch.ones(1),)], False, ())["failure"] == "by itself"
    assert time.monotonic() - start < 1.5  # and not two seconds each


def test_the_time_of_an_answer_is_the_processor_s(asker):
    """On a busy machine the clock's seconds pass while an answer waits, as here it does."""
    reply = asker.ask(["import time\ntime.sleep(1.4)"], "len", [(torch.ones(3),)], False, ())
    assert reply["outcomes"] == [3]


def test_an_answer_computes_to_the_last_digit_as_the_grader_does(asker):
    """With the processor's own instructions: with others a right answer may be too far off."""
    x = torch.linspace(-3, 3, 1000).view(50, 20)
    reply = asker.ask(["import torch"], "lambda x: torch.nn.functional.layer_norm(x, (20,))", [(x,)], False, ())
    assert torch.equal(reply["outcomes"][0], torch.nn.functional.layer_norm(x, (20,)))


OF_ANOTHER_SYSTEM = "os.uname = lambda: os.uname_result(['Darwin', *'    '])"
LACKING = {
    "all": (f"sys.platform = 'darwin'\n{OF_ANOTHER_SYSTEM}", set(PROMISES)),
    "to part processes": ("sandbox.part = lambda: False", {"processes"}),
    "to refuse calls": ("worker.refuse_calls = lambda: False", {"processes", "sockets"}),
}


@pytest.fixture
def on_a_system(tmp_path, monkeypatch):
    """Whom answers are asked of on a system that lacks something."""
    askers = []

    def on_a_system(change):
        begin = "import os, socket, sys\nfrom attention_classroom import sandbox, worker\n"
        end = "\nworker.main(socket.socket(fileno=int(sys.argv[1])), float(sys.argv[2]))\n"
        (tmp_path / "lacking.py").write_text(f"{begin}{change}{end}")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
        monkeypatch.setattr(client, "WORKER", "lacking")
        askers.append(Asker())
        return askers[0]

    yield on_a_system
    askers[0].close()


@pytest.mark.parametrize(("change", "lacks"), LACKING.values(), ids=LACKING.keys())
def test_what_a_system_cannot_do_is_not_promised_and_an_answer_is_run_all_the_same(on_a_system, change, lacks):
    asker = on_a_system(change)
    assert asker.ask([], "len", [(torch.ones(3),)], False, ())["outcomes"] == [3]
    assert lacks <= set(asker.lacks)


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else limits its memory")
def test_an_answer_of_root_has_no_rights_where_it_sees_files(on_a_system):
    """One of them is to raise the limit of memory."""
    rights = "lambda x: float(int(open('/proc/self/status').read().partition('CapEff:')[2].split()[0], 16))"
    asker = on_a_system("sandbox.close_in = lambda *_: False")
    assert asker.ask([], rights, [(torch.ones(3),)], False, ())["outcomes"] == [0]


def test_what_is_empty_may_not_have_millions_of_rows(asker):
    reply = asker.ask(["import torch"], "lambda x: torch.zeros(3_000_000, 0)", [(torch.ones(1),)], False, ())
    assert reply["outcomes"] == [NoNumbers("a tensor of shape (3000000, 0)")]
    with pytest.raises(Stopped, match="what came is no answer"):  # sent past what would have said so
        asker.ask(["import torch", PAST], "lambda x: torch.zeros(3_000_000, 0)", [(torch.ones(1),)], False, ())


PAST = "from attention_course.exercises.judging import running\nrunning.LARGEST = 2**60"


def test_what_is_read_has_the_time_of_an_answer(asker):
    cells = [{"cell_type": "code", "source": f"x = a{'.b()' * 90}\n" * 500}]  # five seconds
    assert asker.read(json.dumps({"cells": cells}), [JACOBIAN]).problem.startswith("reading it takes more time")
    assert asker.read(json.dumps({"cells": []}), [JACOBIAN]).problem == ""


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
    ({"outcomes": {"list": [{"tensor": "float32", "shape": [0, 2**60], "data": ""}] * 12}}, "stopped"),
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
            Asker(seconds=1)._conversation(mine, {}, Lent())


def test_an_answer_may_call_what_it_was_lent_and_look_no_deeper():
    lent, layer = Lent(), torch.nn.Linear(2, 2)
    number, function = lent.keep(layer), lent.keep(made)
    assert lent.serve({"get": "in_features", "of": number}) == {"value": 2}
    hidden = ("__globals__", function), ("_parameters", number), ("register_forward_hook", number), (1, number)
    for name, of in hidden:
        assert "error" in lent.serve({"get": name, "of": of}), name
    assert "error" in lent.serve({"get": "bias", "of": 99})


def test_what_is_lent_takes_little_at_a_time_and_has_its_time():
    lent = Lent(seconds=0.01)
    number = lent.keep(lambda x: sum(range(10**6)))

    def call(value):
        arguments = encode((value,), lent.keep)
        return lent.serve({"call": number, "arguments": arguments, "names": [], "graph": False})

    for much in (torch.zeros(NUMBERS + 1), torch.zeros(0, NUMBERS + 1), 10**9, [torch.zeros(NUMBERS)], [None] * NUMBERS):
        assert "at most" in call(much)["error"]
    assert lent.seconds > 0
    assert "value" in call(torch.zeros(NUMBERS)) and lent.seconds < 0 and not lent.graphs


def test_a_lent_function_that_takes_all_the_time_stops_its_answer(verdict_on, monkeypatch):
    monkeypatch.setattr(Lent, "serve", lambda lent, message: vars(lent).update(seconds=-1) or {"error": "late"})
    answer = "def answer(gradient, x, baseline, steps):\n    return gradient(x)"
    exercise = "interpretability.integrated"
    result = verdict_on(START, f'{answer}\ncheck("{exercise}", answer)', exercise=exercise)
    assert result["status"] == "stopped" and "what it was given ran for" in result["message"]


def test_only_what_an_answer_needs_is_run(tmp_path):
    cells = ["import torch", "import check_nothing", "torch.manual_seed(3)", "p = 5\nlong = sum(range(p))"]
    cells += [f"{RIGHT}\n{CHECK}"]
    answer = read(notebook(tmp_path / "a.ipynb", *cells), [JACOBIAN]).answers[JACOBIAN]
    assert answer.statements == ["import torch", RIGHT] and answer.expression == "answer"


def test_a_file_that_is_too_large_is_not_looked_into(tmp_path):
    path = tmp_path / "a.ipynb"
    path.touch()
    os.truncate(path, 2**40)
    (result,) = grade_all(ONE, {"a": [path]}, tmp_path / "kept", Here(), 1, lambda *progress: None)
    assert result["notes"] == ["a.ipynb: larger than 20 MB"]


def test_of_very_many_notebooks_the_first_are_read(tmp_path):
    paths = [notebook(tmp_path / f"{number}.ipynb", START) for number in range(judging.MOST + 1)]
    paths[-1].write_text("not read")
    assert grade_one(ONE, "a", paths)["notes"] == ["of 51 notebooks the first 50 were read"]


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


def test_who_names_a_module_of_the_references_is_judged_as_anybody(verdict_on):
    docstring = '"""Not from attention_classroom.grading or attention_course.exercises.scale."""'
    assert verdict_on(START, RIGHT.replace("p =", f"{docstring}\n    p =", 1) + f"\n{CHECK}")["status"] == "passed"
    found = verdict_on(START, f"from attention_course.exercises.scale import EXERCISES\nanswer = EXERCISES[1]\n{CHECK}")
    assert found["status"] == "look yourself" and "No module named" in found["message"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def answer(x)\n    return x", "Its cell is not Python: expected ':' in line 1."),
        ("%matplotlib inline\ndef answer(x):\n    return (x", "Its cell is not Python: '(' was never closed in line 3."),
        ("def answer(x, x):\n    return x", "duplicate argument 'x' in function definition in line 1."),
    ],
)
def test_who_wrote_no_python_is_told_where(verdict_on, body, told):
    verdict = verdict_on(START, f"{body}\n{CHECK}")
    assert (verdict["status"], verdict["misconception"]) == ("wrong", "not Python")
    assert verdict["message"].endswith(told)


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ({"output_type": "error", "ename": "SyntaxError"}, "wrong"),
        ({"output_type": "error", "ename": "NameError"}, "look yourself"),
        ({"output_type": "stream", "text": "passed"}, "look yourself"),
        ("nothing that a notebook has", "wrong"),
    ],
)
def test_a_cell_that_ran_where_it_was_written_is_looked_at(tmp_path, shown, status):
    """A newer Python may take what this one refuses."""
    path = notebook(tmp_path / "a.ipynb", START, f"def answer(x:\n    return x\n{CHECK}")
    cells = json.loads(path.read_text())["cells"]
    path.write_text(json.dumps({"cells": [cells[0], cells[1] | {"outputs": [shown]}]}))
    assert grade_one(ONE, "someone", [path])["tasks"][JACOBIAN]["status"] == status


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
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


def test_what_was_stopped_is_tried_once_more_alone(tmp_path, monkeypatch):
    paths, tried = {name: [notebook(tmp_path / f"{name}.ipynb", START)] for name in "abc"}, []
    both = made(Task(JACOBIAN, 2, None), Task("scale.divisor", 1, None))

    def grade_one(assignment, student, paths):
        tried.append((student, len(assignment.tasks)))
        statuses = {JACOBIAN: "stopped" if student != "a" else "wrong", "scale.divisor": "wrong"}
        if tried.count((student, 1)) and student == "b":
            statuses[JACOBIAN] = "passed"
        tasks = {task.exercise: {"status": statuses[task.exercise]} for task in assignment.tasks}
        return {"student": student, "notes": [], "lacks": [], "tasks": tasks}

    monkeypatch.setattr(grading, "grade_one", grade_one)
    results = grade_all(both, paths, tmp_path / "kept", Here(), 2, lambda *progress: None)
    assert tried == [("a", 2), ("b", 2), ("c", 2), ("b", 1), ("c", 1)]
    assert [one["tasks"][JACOBIAN]["status"] for one in results] == ["wrong", "passed", "stopped"]
    assert all(one["tasks"]["scale.divisor"]["status"] == "wrong" for one in results)
    assert not list((tmp_path / "kept").glob("*.begun"))


SAID = [
    ("ValueError: a\n b\x1b[2J", True, "ValueError: a b [2J"),
    ("x" * 999, True, "x" * (LONGEST - 2) + " …"),
    ("KeyError: 'root:x:0:0'", False, "KeyError ("),
    ("root:x:0:0: no", False, "something else than numbers ("),
    ("no result after 5 seconds", False, "no result after 5 seconds"),
    ("no result after root", False, "something else than numbers ("),
]


@pytest.mark.parametrize(("text", "hidden", "told"), SAID, ids=range(len(SAID)))
def test_what_an_answer_says_is_cut_and_where_it_can_read_files_not_told(text, hidden, told):
    assert cut(text, hidden).startswith(told) and (hidden or "root" not in cut(text, hidden))


def test_lines_that_are_told_stand_in_the_answer():
    told = fit_to_show(NoNumbers("E", ("in line 2: y = x", "in line 3: root:x:0", "root: y = x")), True, "z = 1\ny = x")
    assert told.where == ("in line 2: y = x",)


def test_what_goes_wrong_in_the_grader_concerns_one_student(tmp_path, monkeypatch):
    paths = {name: [notebook(tmp_path / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")] for name in "abc"}
    raised = {"b": ZeroDivisionError("why")}
    real = judging.read

    def read_or_raise(path, *others):
        if path.stem in raised:
            raise raised[path.stem]
        return real(path, *others)

    monkeypatch.setattr(judging, "read", read_or_raise)
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


@pytest.mark.parametrize("line", ["y += z", CHECK])
def test_twice_as_many_lines_are_read_in_twice_as_many_steps(tmp_path, line):
    """Not in four times as many: notebooks may have thousands of lines."""

    def calls(lines):
        path, count = notebook(tmp_path / "a.ipynb", "y = 0\n" + f"{line}\n" * lines, f"{RIGHT}\n{CHECK}"), []
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
    # Whoever hands it in chooses the last part of the name.
    names += ["Eve_5_assignsubmission_file_Ada Byron_123_assignsubmission_file_x.ipynb"]
    nobodys = ["__MACOSX/._plain.ipynb", ".ipynb_checkpoints/plain-checkpoint.ipynb", "._plain.ipynb"]
    nobodys += ["group_1_200_red/.ipynb_checkpoints/scale-checkpoint.ipynb"]
    for name in names + nobodys:
        notebook(tmp_path / name)
    found = submissions(tmp_path)
    assert sorted(found) == [
        "Ada Byron_123", "CAPITALS", "Eve_5", "byronada_77", "group_1_200_blue", "group_1_200_red", "homework_3_1_ada",
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
