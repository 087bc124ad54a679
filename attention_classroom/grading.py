"""Judge what a class has handed in, so that an interrupted run goes on where it was."""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, wait
from dataclasses import replace
from pathlib import Path

from attention_classroom import installed
from attention_classroom.assignment import Assignment
from attention_classroom.judging import LOOK, STOPPED, entry, grade_one
from attention_classroom.sandbox import PROMISES
from attention_classroom.submission import LARGEST
from attention_course.exercises import Verdict

ENDED = "the grader was ended twice while this ran"
FAILED = "the grader failed"


def grade_all(
    assignment: Assignment,
    handed_in: dict[str, list[Path]],
    kept: Path,
    executor: Executor,
    at_once: int,
    progress: Callable[[int, int, float], None],
) -> list[dict]:
    """Judge all that was handed in; each result is kept as it comes, so that an interrupted run goes on where it was.

    A result is made again where the notebooks, the assignment or the package have changed, or the grader failed.

    Args:
        assignment: What was assigned.
        handed_in: Notebooks by student.
        kept: The folder for results.
        executor: Runs `grade_one`: threads here, or any other that `concurrent.futures` knows.
        at_once: How many submissions run at the same time.
        progress: Told how many are done, of how many, and after how many seconds.
    """
    kept.mkdir(parents=True, exist_ok=True)
    places = {student: kept / f"{safe_name(student)}.json" for student in handed_in}
    of_all = repr((entry(Verdict("", "", "")), assignment, installed.version(), installed.commit(), PROMISES))
    digests = {student: _digest(of_all, paths) for student, paths in handed_in.items()}
    results = {student: _kept(places[student], digests[student]) for student in handed_in}
    waiting = [student for student in handed_in if results[student] is None]
    begun = {student: _times_begun(_begun_file(places[student])) for student in waiting}
    for student in [student for student in waiting if begun[student] > 1]:
        results[student] = _set_aside(assignment, student, ENDED) | {"of": digests[student]}
        _keep(places[student], results[student])
    # One of those that ran when the grader was ended did it: each of them now runs alone, and last.
    suspects = [student for student in waiting if begun[student] == 1]
    innocent = [student for student in waiting if begun[student] == 0]
    start, done, all_done = time.monotonic(), 0, len(innocent) + len(suspects)

    def run(asked, width):
        """What comes of each of these, so many of which run at once."""
        asked, running = list(asked), {}
        while asked or running:
            while asked and len(running) < width:
                student, part = asked.pop(0)
                _begun_file(places[student]).write_text(str(begun[student] + 1))
                running[executor.submit(grade_one, part, student, handed_in[student])] = student
            for future in wait(running, return_when=FIRST_COMPLETED)[0]:
                student = running.pop(future)
                yield student, _result(future, assignment, student)

    def keep(student, result):
        results[student] = {"of": digests[student]} | result
        _keep(places[student], results[student])

    stopped = []  # a busy machine may have done it: they are tried once more, alone
    try:
        for students, width in ((innocent, at_once), (suspects, 1)):
            for student, result in run([(student, assignment) for student in students], width):
                done += 1
                progress(done, all_done, time.monotonic() - start)
                if again := _stopped(assignment, result):
                    results[student] = result
                    stopped.append((student, again))
                else:
                    keep(student, result)
        for student, result in run(stopped, 1):
            keep(student, _together(results[student], result))
    except KeyboardInterrupt:  # by the instructor, and by nobody's answer
        for student in waiting:
            if (file := _begun_file(places[student])).exists():
                file.write_text(str(begun[student]))
        raise
    return list(results.values())  # and not what stands in the files now


def _stopped(assignment, result):
    """The assignment with those tasks alone whose answers were stopped; `None` where there are none."""
    tasks = tuple(task for task in assignment.tasks if result["tasks"][task.exercise]["status"] == STOPPED)
    return replace(assignment, tasks=tasks) if tasks else None


def _together(result, again):
    """A result with what came of those that were tried again."""
    tasks = {name: again["tasks"][name] if one["status"] == STOPPED else one for name, one in result["tasks"].items()}
    return result | again | {"lacks": sorted({*result["lacks"], *again["lacks"]}), "tasks": tasks}


def safe_name(student: str) -> str:
    """A file name for any student, different for each."""
    return re.sub(r"[^\w.-]", "_", student)[:60] + "-" + hashlib.sha256(_bytes(student)).hexdigest()[:8]


def _digest(of_all, paths):
    """Of all that a result depends on: what all have in common, and the notebooks."""
    digest = hashlib.sha256(of_all.encode())
    for path in paths:
        digest.update(_bytes(path.name))
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            digest.update(path.read_bytes() if path.stat().st_size <= LARGEST else b"too large to be read")
    return digest.hexdigest()


def _bytes(text):
    """Of any text: a file's name may have been no text where it came from."""
    return text.encode("utf-8", "surrogatepass")


def _kept(place, digest):
    """A result of an earlier run, where it is of the same notebooks and assignment."""
    result = json.loads(place.read_text(encoding="utf-8")) if place.exists() else None
    return result if result and result["of"] == digest else None


def _begun_file(place):
    return place.with_suffix(".begun")


def _times_begun(file):
    return int(file.read_text() or 1) if file.exists() else 0


def _result(future, assignment, student):
    """What `grade_one` found; whatever it raises concerns one student and this run, which goes on."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):  # of the executor, and so of everybody
        raise
    except Exception as error:
        note = f"{FAILED}: {type(error).__name__}: {error}"[:300]
        return _set_aside(assignment, student, note) | {"of": "nothing that the next run should keep"}


def _set_aside(assignment, student, note):
    not_judged = entry(Verdict("", LOOK, f"Not judged: {note}."))
    return {
        "student": student,
        "notes": [note],
        "lacks": [],
        "tasks": {task.exercise: not_judged for task in assignment.tasks},
    }


def _keep(place, result):
    """Write it whole or not at all."""
    write_whole(place, json.dumps(result))
    _begun_file(place).unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    os.replace(beside, path)
