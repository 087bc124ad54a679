"""Whatever an answer does, its check goes on; only the reader's own Ctrl-C stops it."""

import linecache
import signal
import sys
import threading
import time
from contextlib import suppress

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from attention_course import check
from attention_course.exercises.judging.running import NoNumbers, run


def forever(*arguments):
    while True:
        pass


def sleeping(*arguments):
    time.sleep(60)


def swallowing(*arguments):
    try:
        forever()
    except:  # noqa: E722
        forever()


def swallowing_in_a_loop(*arguments):
    while True:
        try:  # noqa: SIM105
            time.sleep(60)
        except:  # noqa: E722
            pass


def swallowing_in_a_helper(*arguments):
    while True:
        with suppress(BaseException):
            forever()


def swallowing_what_a_library_raises(*arguments):
    while True:
        try:
            sorted([2, 1], key=forever)
        except BaseException:
            continue
        finally:
            time.sleep(0)


SWALLOWING = [swallowing, swallowing_in_a_loop, swallowing_in_a_helper, swallowing_what_a_library_raises]


@pytest.mark.parametrize("function", [forever, sleeping, *SWALLOWING])
def test_an_answer_without_an_end_is_stopped_where_it_is(function):
    outcomes = run(function, [(1,), (2,)], seconds=0.5)
    assert outcomes == [NoNumbers("no result after 0.5 seconds")] * 2
    shown = "while True:", "pass", "time.sleep(60)", "with suppress(", "except"
    assert any(code in line for line in outcomes[0].where for code in shown), outcomes[0].where


@pytest.mark.parametrize("function", [*SWALLOWING, lambda: 1])
def test_a_debuggers_trace_is_as_it_was_afterwards(function):
    def trace(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(function, [()], seconds=0.2)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_what_came_before_the_end_of_the_time_is_kept():
    def at_its_end_in_the_second(number):
        if number == 2:
            signal.raise_signal(signal.SIGALRM)
        return number

    late = NoNumbers("no result after 1000 seconds")
    assert run(at_its_end_in_the_second, [(1,), (2,), (3,)], seconds=1000) == [1, late, late]


def test_the_limit_holds_for_all_inputs_together():
    outcomes = run(lambda: time.sleep(0.1), [()] * 50, seconds=0.4)
    assert outcomes[-1] == NoNumbers("no result after 0.4 seconds")


def test_the_limit_may_be_of_the_processors_time():
    assert run(lambda: time.sleep(0.3) or 1, [()], seconds=0.2, processor=True) == [1]
    assert run(forever, [()], seconds=0.2, processor=True) == [NoNumbers("no result after 0.2 seconds")]


def test_an_endless_answer_gets_a_verdict(monkeypatch):
    monkeypatch.setattr("attention_course.exercises.judging.running.run.__defaults__", (0.2,))
    verdict = check("scale.softmax_jacobian", forever)
    assert verdict.status == "wrong" and "no result after 0.2 seconds" in verdict.message


def test_signals_and_timers_are_as_they_were_afterwards():
    signal.setitimer(signal.ITIMER_REAL, 1e6, 10)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    try:
        for function in (forever, sys.exit, lambda: 1):
            run(function, [()], seconds=0.1)
            assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)) == before
            delay, interval = signal.getitimer(signal.ITIMER_REAL)
            assert delay > 1e5 and interval == 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_a_thread_runs_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.extend(run(lambda: 1, [()])))
    thread.start()
    thread.join()
    assert found == [1]


def test_a_system_without_alarms_runs_without_a_limit(monkeypatch):
    monkeypatch.delattr(signal, "setitimer")
    assert run(lambda: 1, [()]) == [1]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine"),
        (GeneratorExit(), "GeneratorExit"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_whatever_an_answer_raises_is_its_result(error, text):
    def raises():
        raise error

    assert run(raises, [()]) == [NoNumbers(text)]


def test_the_readers_own_interrupt_stops():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(lambda: signal.raise_signal(signal.SIGINT), [()])
    assert signal.getsignal(signal.SIGINT) is before


class Unprintable(Exception):
    def __repr__(self):
        raise SystemExit("no repr")

    __str__ = __repr__


def test_what_cannot_be_printed_is_a_result():
    def raises():
        raise Unprintable

    assert "Unprintable" in run(raises, [()])[0].text
    assert run(Unprintable, [()]) == [NoNumbers("SystemExit: no repr")]


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.empty(2, device="meta"),
        lambda: torch.quantize_per_tensor(torch.eye(2), 0.1, 0, torch.quint8),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        lambda: torch.ones(1).expand(10**12),
        lambda: torch.ones(3000, 3000),
        lambda: torch.ones(3_000_000, 0),
        lambda: 10**400,
        lambda: "text " * 1000,
        lambda: None,
        lambda: {1: 2},
        lambda: [[1], [2, 3]],
    ],
    ids=[
        *("sparse", "meta", "quantized", "nested", "endless", "huge", "empty rows", "overflow", "text", "None", "dict"),
        "ragged",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_compared_is_a_result(make):
    (outcome,) = run(make, [()])
    assert isinstance(outcome, NoNumbers)
    assert len(outcome.text) < 200


def test_only_lines_of_the_learners_own_are_shown():
    cell = "def helper(scores):\n    return torch.nn.functional.linear(scores, scores[5])\n"
    cell += "\ndef answer(scores):\n    return helper(scores)\n"
    linecache.cache["<cell>"] = (len(cell), None, cell.splitlines(keepends=True), "<cell>")
    names = {"torch": torch, "__name__": "__main__"}
    exec(compile(cell, "<cell>", "exec"), names)
    (outcome,) = run(names["answer"], [(torch.ones(2),)])
    assert outcome.where == (
        "in line 5: return helper(scores)",
        "in line 2: return torch.nn.functional.linear(scores, scores[5])",
    )


def test_lines_of_the_library_are_not_shown():
    def answer(scores):
        return torch.nn.functional.interpolate(scores, mode="none")

    (outcome,) = run(answer, [(torch.ones(1, 1, 2),)])
    assert [line.split(": ", 1)[1] for line in outcome.where] == [
        'return torch.nn.functional.interpolate(scores, mode="none")'
    ]


def test_a_kernel_survives_and_shows_the_line_of_the_cell():
    cell = """import sys, time
from attention_course.exercises.judging.running import run

def endless():
    while True:
        time.sleep(0.01)

def leaving():
    sys.exit()

print(run(endless, [()], seconds=0.3), run(leaving, [()]))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell), nbformat.v4.new_code_cell("print(1)")])
    NotebookClient(notebook, timeout=60).execute()
    printed = notebook.cells[0].outputs[0].text
    assert "no result after 0.3 seconds" in printed and "in line 6: time.sleep(0.01)" in printed
    assert "SystemExit" in printed and "in line 9: sys.exit()" in printed
    assert notebook.cells[1].outputs[0].text == "1\n"


def test_an_import_is_not_cut_in_half(tmp_path, monkeypatch):
    """What it leaves behind would break the module until the notebook's kernel is started again."""
    (tmp_path / "slow_to_import.py").write_text("import time\n\ntime.sleep(1.5)\nnumber = 3\n")
    monkeypatch.syspath_prepend(tmp_path)

    def answer():
        import slow_to_import

        return slow_to_import.number

    run(answer, [()], seconds=0.5)
    assert sys.modules["slow_to_import"].number == 3
    assert run(answer, [()]) == [3]
