"""Judge what one student has handed in. No submission judges itself: see `worker`."""

import hashlib
import re
import threading
from pathlib import Path

from attention_classroom.assignment import Assignment, Task
from attention_classroom.client import Asker, Stopped
from attention_classroom.needs import Answer
from attention_classroom.open_exercises import is_open
from attention_classroom.submission import Submission, read, shortened
from attention_course.exercises import Verdict, find_exercise
from attention_course.exercises.judging.checking import draw, no_function, share_right, verdict_on
from attention_course.exercises.judging.running import LATE, NoNumbers
from attention_course.exercises.judging.variants import PUBLISHED, judge_variant

LOOK = "look yourself"
STOPPED = "stopped"
UNJUDGED = (LOOK, STOPPED)  # nothing is said about the answer
ABSENT = "absent"
NOT_FOUND = "No check of this exercise was found."
NOT_READ = "Its check stands here in a way that could not be read."
NOT_PYTHON = "not Python"
NO_PLACE = "The bold line above the place of the answer was not found."
ORDER = ("passed", LOOK, "wrong", STOPPED, "not attempted", "not found")  # the best of several notebooks
MOST = 50  # notebooks of one student
NO_NAME = re.compile(r"[^\w .()-]")  # what a file's name may hold besides
_own = threading.local()


def grade_one(assignment: Assignment, student: str, paths: list[Path]) -> dict:
    """Judge what one student handed in; the result is JSON.

    Returns:
        `"student"`, `"notes"` (what is wrong with a file), `"lacks"` (which of `sandbox.PROMISES` did not hold) and
        `"tasks"`: by exercise its `"status"`, `"message"`, `"misconception"`, `"share"` (of its tests that a wrong
        answer passes), `"fingerprint"`, which is equal for equal code, and, for who marks by hand, `"source"`, as it
        was written, and `"run"`, the code that was run.
    """
    exercises = [task.exercise for task in assignment.tasks]
    read_ones = [(path, read(path, exercises, _asker().read)) for path in paths[:MOST]]
    notes = [f"{NO_NAME.sub('_', path.name)[:60]}: {one.problem}" for path, one in read_ones if one.problem]
    if not paths:
        notes = ["no notebook (.ipynb) was handed in"]
    if len(paths) > MOST:
        notes.append(f"of {len(paths)} notebooks the first {MOST} were read")
    tasks = {}
    for task in assignment.tasks:
        judged = [_judged(assignment, student, task, submission) for _, submission in read_ones]
        missing = entry(Verdict(task.exercise, "not found", NO_PLACE if is_open(task.exercise) else NOT_FOUND))
        tasks[task.exercise] = min([*judged, missing], key=lambda one: (ORDER.index(one["status"]), -one["share"]))
    return {"student": student, "notes": notes, "lacks": sorted(_asker().lacks), "tasks": tasks}


def _judged(assignment, student, task: Task, submission: Submission):
    return _entry(assignment, student, task, submission) | {"source": submission.sources.get(task.exercise, "")}


def _entry(assignment, student, task, submission):
    if is_open(task.exercise) and task.exercise in submission.sources:
        if submission.sources[task.exercise]:
            return entry(Verdict(task.exercise, LOOK, "An open exercise, which a person marks."))
        return entry(Verdict(task.exercise, "not attempted", "Nothing stands in the place of the answer."))
    answer = submission.answers.get(task.exercise)
    if answer is None:
        if task.exercise in submission.mentioned:
            why = submission.mentioned[task.exercise]
            told = f"Its cell is not Python: {why}." if why else NOT_READ
            if task.exercise in submission.lost:  # which needs nobody to decide it
                return entry(Verdict(task.exercise, "wrong", told, NOT_PYTHON))
            return entry(Verdict(task.exercise, LOOK, told))
        return entry(Verdict(task.exercise, "not found", NOT_FOUND))
    verdict, share = _verdict(assignment, student, task, answer)
    return entry(verdict, answer) | {"share": share}


def entry(verdict, answer: Answer | None = None):
    return {
        "status": verdict.status,
        "message": verdict.message,
        "misconception": verdict.misconception,
        "share": 0.0,
        "fingerprint": answer.fingerprint if answer else "",
        "source": "",
        "run": shortened("\n".join([*answer.statements, answer.expression])) if answer else "",
    }


def _verdict(assignment, student, task, answer):
    """The verdict, and the share that a wrong answer passes of its tests, none for a copied solution."""
    exercise, shares = find_exercise(task.exercise), []
    verdict = judge_variant(exercise, task.variant, lambda asked: _asked(assignment, student, asked, answer, shares))
    is_own = verdict.status == "wrong" and verdict.misconception != PUBLISHED
    return verdict, shares[0] if shares and is_own else 0.0


def _asked(assignment, student, exercise, answer, shares):
    name = f"{assignment.salt} {student}".encode("utf-8", "surrogatepass")
    inputs = draw(exercise, int.from_bytes(hashlib.sha256(name).digest()[:6]))  # they differ by student
    try:
        reply = _asker().ask(
            answer.statements, answer.expression, inputs, exercise.differentiable, exercise.kept_places
        )
    except Stopped as error:
        return Verdict(exercise.id, STOPPED, f"There are no numbers to judge: {error}.")
    if reply["outcomes"] is None:
        return Verdict(exercise.id, LOOK, f"It could not be run:\n{reply['failure']}")
    gradients = reply["gradients"] or [NoNumbers("nothing that is a gradient")] * len(inputs)
    try:
        if not reply["callable"] and inputs[0] and reply["outcomes"][0] is not ...:
            verdict = no_function(exercise)
        else:
            verdict = verdict_on(exercise, inputs, reply["outcomes"], lambda: gradients)
            shares.append(share_right(exercise, inputs, reply["outcomes"]) if verdict.status == "wrong" else 0.0)
    except Exception as error:  # an answer may have put anything in the place of its numbers
        return Verdict(exercise.id, LOOK, f"What came back cannot be judged: {type(error).__name__}")
    if verdict.status == "wrong" and any(map(_ran_out_of_time, [*reply["outcomes"], *gradients])):
        return Verdict(exercise.id, STOPPED, f"It took too long. {verdict.message}")
    if verdict.status == "wrong" and (doubt := _doubt(reply, answer)):
        return Verdict(exercise.id, LOOK, f"{verdict.message}\nBut perhaps it is not what was meant: {doubt}.")
    return verdict


def _ran_out_of_time(outcome):
    return isinstance(outcome, NoNumbers) and outcome.text.startswith(LATE)


def _doubt(reply, answer):
    """Why an answer may be right where it is run in its notebook, with all of it; empty where nothing says so."""
    texts = [str(outcome) for outcome in reply["outcomes"] if isinstance(outcome, NoNumbers)]
    missing = next((text for text in texts if text.startswith("NameError")), "")
    changed = "what was left out may have changed what it uses" if answer.uncertain else ""
    return reply["failure"] or missing or reply["limit"] or changed


def _asker():
    """The process that this thread asks."""
    if not hasattr(_own, "asker"):
        _own.asker = Asker()
    return _own.asker
