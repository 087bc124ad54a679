"""`python -m attention_course assign`: notebooks to hand out, the instructor's own, and what was assigned.

With a key, each exercise that has variants appears as one of them, chosen by the key, so that a published solution
does not pass. Whoever knows the key and the lessons gets the same choice again.
"""

import argparse
import hashlib
import hmac
import json
import secrets
import sys
from pathlib import Path

from attention_classroom import installed
from attention_classroom.assignment import Assignment, Task
from attention_classroom.notebooks import for_students, for_the_instructor
from attention_classroom.open_exercises import is_open, open_exercises
from attention_classroom.times import FORM, moment
from attention_course.exercises import CHAPTERS, Exercise, chapter_exercises
from attention_course.exercises.judging.variants import variants

NO_ADDRESS = "https://github.com/your-organisation/"  # what a copy of the course has until it is published
WEAK = "arguments from the back"  # the handed-out stub shows it, so that it asks nothing else of a copied body


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status."""
    given = _parser().parse_args(arguments)
    try:
        assignment = assign(
            given.lessons,
            given.out,
            key=secrets.token_hex() if given.key == "" else given.key,
            points=dict(given.points),
            due=given.due,
            late_per_day=given.late_per_day,
            partial=given.partial,
            source=given.source,
        )
    except (ValueError, FileExistsError) as error:
        print(f"assign: {error}", file=sys.stderr)
        return 2
    print(_summary(assignment, given.out))
    if any(NO_ADDRESS in path.read_text(encoding="utf-8") for path in (given.out / "students").iterdir()):
        print(
            "Warning: these notebooks cannot install the package in Colab until `make url URL=...` was run and they "
            "were assigned again, but `make wheel` gives a file that can be handed out beside them."
        )
    return 0


def assign(
    lessons: list[str],
    out: Path,
    *,
    key: str | None = None,
    points: dict[str, float] | None = None,
    due: str | None = None,
    late_per_day: float = 0.0,
    partial: bool = False,
    source: Path = Path("chapters"),
) -> Assignment:
    """Write `out/students/`, `out/instructor/` and `out/instructor/assignment.json`.

    Args:
        lessons: Names of lessons, such as `"multi_head"`.
        out: A folder that does not exist yet, or is empty.
        key: Any word. With one, exercises that have variants are turned round.
        points: By exercise; the others are worth 1, open ones such as `"alignment.open_4"` 0. What is worth 0 is not
            assigned.
        due: A date and time in ISO 8601.
        late_per_day: Which share of its points a late answer loses for each day that has begun, 0 to 1.
        partial: Whether a wrong answer earns the share of its points that it passes of its tests.
        source: The folder of the lessons' notebooks.

    Raises:
        ValueError: If an argument is not what is said here, or a lesson is not there.
        FileExistsError: If something stands in `out`.
    """
    points, out = points or {}, Path(out)
    if len(set(lessons)) < len(lessons):
        raise ValueError(f"lessons must be named once each, got {lessons}")
    notebooks = {lesson: _notebook(lesson, source) for lesson in lessons}
    exercises = {name: one for lesson in lessons for name, one in chapter_exercises(lesson).items()}
    by_hand = [name for lesson in lessons for name in open_exercises(lesson, notebooks[lesson])]
    _check_points(points, [*exercises, *by_hand])
    _check_late_rule(due, late_per_day)
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} must be a new or an empty folder: what was handed out is not written over")
    tasks = {
        name: Task(name, points.get(name, 1.0), _chosen(exercise, key))
        for name, exercise in exercises.items()
        if points.get(name, 1.0)
    } | {name: Task(name, points[name], None) for name in by_hand if points.get(name)}
    assignment = Assignment(
        lessons=tuple(lessons),
        tasks=tuple(tasks.values()),
        version=installed.version(),
        commit=installed.commit(),
        salt=secrets.token_hex(16),
        due=due,
        late_per_day=late_per_day,
        partial=partial,
    )
    made = {}
    for lesson, notebook in notebooks.items():
        own = {name: task for name, task in tasks.items() if name.split(".")[0] == lesson}
        made[out / "students" / f"{lesson}.ipynb"] = for_students(notebook, assignment, own, exercises)
        made[out / "instructor" / f"{lesson}.ipynb"] = for_the_instructor(notebook, own, exercises)
    for path, notebook in made.items():
        _write(path, notebook)
    assignment.save(out / "instructor" / "assignment.json")
    return assignment


def _parser():
    parser = argparse.ArgumentParser(prog="python -m attention_course assign", description=__doc__.split("\n\n")[1])
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="such as multi_head")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--key", nargs="?", const="", metavar="WORD", help="turn exercises round, by chance or as this word decides"
    )
    parser.add_argument(
        "--points", action="append", default=[], type=_points, metavar="EXERCISE=N", help="1 each; with 0 left out"
    )
    parser.add_argument("--due", metavar="ISO", help="date and time, such as 2027-03-01T18:00+01:00")
    parser.add_argument("--late-per-day", type=float, default=0.0, metavar="SHARE", help="lost for each day begun")
    parser.add_argument("--partial", action="store_true", help="points for the share of the tests that are passed")
    parser.add_argument(
        "--from", dest="source", type=Path, default=Path("chapters"), metavar="DIR", help="where the lessons are"
    )
    return parser


def _points(text):
    exercise, equals, number = text.partition("=")
    try:
        return exercise, float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected EXERCISE=N, such as multi_head.fused=2, got {text!r}") from None


def _check_points(points, exercises):
    for name, number in points.items():
        if name not in exercises:
            raise ValueError(f"points must name one of {sorted(exercises)}, got {name!r}")
        if not 0 <= number < float("inf"):
            raise ValueError(f"points of {name} must be 0 or more, got {number}")


def _check_late_rule(due, late_per_day):
    if not 0 <= late_per_day <= 1:
        raise ValueError(f"late_per_day must be between 0 and 1, got {late_per_day}")
    if late_per_day and due is None:
        raise ValueError(f"late_per_day is {late_per_day}, and due is missing: after when is an answer late?")
    try:
        moment(due or FORM)
    except ValueError:
        raise ValueError(f"due must be a date and a time of day such as {FORM}, got {due!r}") from None


def _notebook(lesson, source):
    path = Path(source) / f"{lesson}.ipynb"
    if lesson not in CHAPTERS:
        raise ValueError(f"lesson must be one of {sorted(CHAPTERS)}, got {lesson!r}")
    if not path.is_file():
        raise ValueError(f"{path} is not there: name the folder of the lessons' notebooks by --from")
    return json.loads(path.read_text(encoding="utf-8"))


def _chosen(exercise: Exercise, key):
    """The name of one of its variants; nothing without a key, or where it has none."""
    names = sorted(variants(exercise)) if key is not None else []
    names = [name for name in names if name != WEAK] or names
    return names[int.from_bytes(_digest(key, exercise.id)) % len(names)] if names else None


def _digest(key, about):
    return hmac.new(key.encode(), about.encode(), hashlib.sha256).digest()


def _write(path, notebook):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _summary(assignment, out):
    width = max((len(task.exercise) for task in assignment.tasks), default=0)
    lines = [
        f"{task.exercise:{width}}  {task.points:>4g}  {_how(task)}" for task in assignment.tasks
    ]
    total = sum(task.points for task in assignment.tasks)
    plain, pasted = (
        sum(task.points for task in assignment.tasks if task.variant in passes and not is_open(task.exercise))
        for passes in ([None], [None, WEAK])
    )
    return "\n".join(
        [
            *lines,
            f"Of {total:g} points the published solutions earn {plain:g}; with their bodies below the handed-out def, "
            f"{pasted:g}.",
            f"Hand out {out / 'students'}; keep {out / 'instructor'}.",
        ]
    )


def _how(task):
    return "marked by hand" if is_open(task.exercise) else task.variant or "as published"
