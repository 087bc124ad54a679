"""Judge what a class has handed in. No submission judges itself: see `worker`."""

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, wait
from pathlib import Path

from attention_classroom import installed
from attention_classroom.assignment import Assignment, Task
from attention_classroom.client import Asker, Stopped
from attention_classroom.needs import Answer
from attention_classroom.submission import Submission, read
from attention_course.exercises import Verdict, find_exercise
from attention_course.exercises.judging.checking import draw, no_function, verdict_on
from attention_course.exercises.judging.running import LATE, NoNumbers
from attention_course.exercises.judging.variants import judge_variant

LOOK = "look yourself"
UNJUDGED = (LOOK, "stopped")  # nothing is said about the answer
ENDED = "the grader was ended twice while this ran"
NOT_FOUND = "No check of this exercise was found."
ORDER = ("passed", LOOK, "wrong", "stopped", "not attempted", "refused", "not found")  # the best of several notebooks
_own = threading.local()


def grade_one(assignment: Assignment, student: str, paths: list[Path]) -> dict:
    """Judge what one student handed in; the result is JSON.

    Returns:
        `"student"`, `"notes"` (what is wrong with a file), `"alone"` (whether every answer ran without a network,
        apart from other processes, and wrote no file outside its folder) and `"tasks"`: by exercise its `"status"`,
        `"message"`, `"misconception"` and `"fingerprint"`, which is equal for equal code.
    """
    exercises = [task.exercise for task in assignment.tasks]
    read_ones = [(path, read(path, exercises)) for path in paths]
    result = {
        "student": student,
        "notes": [f"{path.name}: {submission.problem}" for path, submission in read_ones if submission.problem]
        if paths
        else ["no notebook (.ipynb) was handed in"],
        "alone": True,
        "tasks": {},
    }
    for task in assignment.tasks:
        judged = [_judged(assignment, student, task, submission, result) for _, submission in read_ones]
        missing = _entry(Verdict(task.exercise, "not found", NOT_FOUND))
        result["tasks"][task.exercise] = min([*judged, missing], key=lambda one: ORDER.index(one["status"]))
    return result


def _judged(assignment, student, task: Task, submission: Submission, result):
    answer = submission.answers.get(task.exercise)
    if submission.problem.startswith("it names"):
        return _entry(Verdict(task.exercise, "refused", f"Not run: {submission.problem}."))
    if answer is None:
        if task.exercise in submission.mentioned:
            return _entry(Verdict(task.exercise, LOOK, "Its check stands here in a way that could not be read."))
        return _entry(Verdict(task.exercise, "not found", NOT_FOUND))
    return _entry(_verdict(assignment, student, task, answer, result), answer)


def _entry(verdict, answer: Answer | None = None):
    return {
        "status": verdict.status,
        "message": verdict.message,
        "misconception": verdict.misconception,
        "fingerprint": answer.fingerprint if answer else "",
    }


def _verdict(assignment, student, task, answer, result):
    exercise = find_exercise(task.exercise)
    return judge_variant(exercise, task.variant, lambda asked: _asked(assignment, student, asked, answer, result))


def _asked(assignment, student, exercise, answer, result):
    seed = hashlib.sha256(_bytes(f"{assignment.salt} {student}")).digest()[:6]  # inputs differ by student
    inputs = draw(exercise, int.from_bytes(seed))
    try:
        reply = _asker().ask(
            answer.statements, answer.expression, inputs, exercise.differentiable, exercise.kept_places
        )
    except Stopped as error:
        return Verdict(exercise.id, "stopped", f"There are no numbers to judge: {error}.")
    result["alone"] &= bool(reply["alone"])
    if reply["outcomes"] is None:
        return Verdict(exercise.id, LOOK, f"It could not be run: {reply['failure']}")
    gradients = reply["gradients"] or [NoNumbers("nothing that is a gradient")] * len(inputs)
    try:
        if not reply["callable"] and inputs[0] and reply["outcomes"][0] is not ...:
            verdict = no_function(exercise)
        else:
            verdict = verdict_on(exercise, inputs, reply["outcomes"], lambda: gradients)
    except Exception as error:  # an answer may have put anything in the place of its numbers
        return Verdict(exercise.id, LOOK, f"What came back cannot be judged: {error}")
    if verdict.status == "wrong" and any(map(_ran_out_of_time, [*reply["outcomes"], *gradients])):
        return Verdict(exercise.id, "stopped", f"It took too long. {verdict.message}")
    if verdict.status == "wrong" and (doubt := _doubt(reply, answer)):
        return Verdict(exercise.id, LOOK, f"{verdict.message} But perhaps it is not what was meant: {doubt}.")
    return verdict


def _ran_out_of_time(outcome):
    return isinstance(outcome, NoNumbers) and outcome.text.startswith(LATE)


def _doubt(reply, answer):
    """Why an answer may be right where it is run in its notebook, with all of it; empty where nothing says so."""
    texts = [outcome.text for outcome in reply["outcomes"] if isinstance(outcome, NoNumbers)]
    missing = next((text for text in texts if text.startswith("NameError")), "")
    changed = "what was left out may have changed what it uses" if answer.uncertain else ""
    return reply["failure"] or missing or reply["limit"] or changed


def _asker():
    """The process that this thread asks."""
    if not hasattr(_own, "asker"):
        _own.asker = Asker()
    return _own.asker


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
    of_all = repr((assignment, installed.version(), installed.commit()))
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
    try:
        for students, width in ((innocent, at_once), (suspects, 1)):
            students, running = list(students), {}
            while students or running:
                while students and len(running) < width:
                    student = students.pop(0)
                    _begun_file(places[student]).write_text(str(begun[student] + 1))
                    running[executor.submit(grade_one, assignment, student, handed_in[student])] = student
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    student = running.pop(future)
                    results[student] = {"of": digests[student]} | _result(future, assignment, student)
                    _keep(places[student], results[student])
                    done += 1
                    progress(done, all_done, time.monotonic() - start)
    except KeyboardInterrupt:  # by the instructor, and by nobody's answer
        for student in waiting:
            if (file := _begun_file(places[student])).exists():
                file.write_text(str(begun[student]))
        raise
    return list(results.values())  # and not what stands in the files now


def safe_name(student: str) -> str:
    """A file name for any student, different for each."""
    return re.sub(r"[^\w.-]", "_", student)[:60] + "-" + hashlib.sha256(_bytes(student)).hexdigest()[:8]


def _digest(of_all, paths):
    """Of all that a result depends on: what all have in common, and the notebooks."""
    digest = hashlib.sha256(of_all.encode())
    for path in paths:
        digest.update(_bytes(path.name))
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            digest.update(path.read_bytes())
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
        note = f"the grader failed: {type(error).__name__}: {error}"[:300]
        return _set_aside(assignment, student, note) | {"of": "nothing that the next run should keep"}


def _set_aside(assignment, student, note):
    entry = _entry(Verdict("", LOOK, f"Not judged: {note}."))
    return {
        "student": student,
        "notes": [note],
        "alone": True,
        "tasks": {task.exercise: entry for task in assignment.tasks},
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
