"""Tables and pages from the results of a class."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from attention_classroom.assignment import Assignment
from attention_classroom.gradebooks import write_gradebooks
from attention_classroom.grading import safe_name, write_whole
from attention_classroom.handed_in import is_in_time
from attention_classroom.judging import ABSENT, UNJUDGED
from attention_classroom.lateness import as_due, days_late, share_left
from attention_classroom.mistakes import write_mistakes
from attention_classroom.overrides import decide, read_decided, write_decided
from attention_classroom.roster import Roster
from attention_classroom.sandbox import PROMISES
from attention_classroom.tables import FOR_EXCEL, harmless, table

MOST_NAMED = 8  # who wrote the same; of more, only how many


def write_reports(
    assignment: Assignment,
    results: list[dict],
    out: Path,
    times: dict[str, str],
    remarks: Sequence[str] = (),
    lessons: Path | None = None,
    roster: Roster | None = None,
    handed_in: Mapping[str, list[Path]] | None = None,
) -> list[str]:
    """Write the tables `grades` and `decided`, those for gradebooks, and the pages of each student and of the class.

    What stands in `decided.csv` counts before what the grader says.

    Args:
        assignment: What was assigned.
        results: Of each student, as `grade_one` gives them, or `absent_result`.
        out: The folder.
        times: When each student handed in, in ISO 8601; who is not there was in time.
        remarks: For the page of the class.
        lessons: The folder of the instructor's notebooks, for `mistakes.html`.
        roster: Who has more time, and whose notebooks are those of a group.
        handed_in: Notebooks by student, whose names say which gradebook the class has.

    Returns:
        The remarks, and those on what is to be decided and on gradebooks.

    Raises:
        ValueError: If `decided.csv` or `canvas.csv` is there and cannot be read; then no points are written.
    """
    decided = read_decided(out / "decided.csv", assignment, [result["student"] for result in results])
    results = decide(results, decided)
    remarks = [*remarks, *write_decided(assignment, results, decided, out / "decided.csv")]
    remarks += _of_the_absent(results)
    roster = roster or Roster()
    of_each = [(one["student"], one | {"student": name}) for one in results for name in roster.of(one["student"])]
    own = [as_due(assignment, roster, one["student"]) for _, one in of_each]
    rows = [_row(one, result, times.get(by)) for one, (by, result) in zip(own, of_each, strict=True)]
    exercises = [task.exercise for task in assignment.tasks]
    head = ["student", "points", "of", "days late", "to look at", *exercises, "notes"]
    here = [(one, *others) for (_, one), *others in zip(of_each, rows, own, strict=True) if not _is_absent(one)]
    remarks += write_gradebooks(assignment, [(row[0], row[1]) for _, row, _ in here], handed_in or {}, out)
    write_whole(out / "grades.csv", FOR_EXCEL + table([head, *rows]))
    for result, row, one in here:
        path = out / "feedback" / f"{safe_name(result['student'])}.md"
        write_whole(path, _feedback(one, result, row))
    write_mistakes(assignment, [one for one in results if not _is_absent(one)], lessons, out / "mistakes.html")
    write_whole(out / "class.md", _of_the_class(assignment, results, remarks))
    write_whole(out / "identical.md", _identical(results))
    return remarks


def write_times(handed_in: Mapping[str, list[Path]], due: str, path: Path) -> None:
    """Write a table in which times can be filled in; what is there stays. Of Canvas's only who was late has none."""
    if not path.exists():
        rows = [[student, due if is_in_time(paths) else ""] for student, paths in handed_in.items()]
        write_whole(path, FOR_EXCEL + table([["student", "time"], *rows]))


def _of_the_absent(results):
    """Whose points stay empty, which is not 0."""
    names = "; ".join(harmless(result["student"]) for result in results if _is_absent(result))
    told = "Absent, without points in grades.csv and without a line in the files for gradebooks"
    return [f"{told}: {names}."] if names else []


def _undecided(result):
    return sum(_status(entry) in UNJUDGED for entry in result["tasks"].values())


def _is_absent(result):
    return any(_status(entry) == ABSENT for entry in result["tasks"].values())


def _row(assignment, result, handed_in):
    late = days_late(assignment, handed_in)
    share = share_left(assignment, handed_in)
    tasks = result["tasks"]
    points = share * sum(_points(assignment, task, tasks[task.exercise]) for task in assignment.tasks)
    told = "" if _undecided(result) or _is_absent(result) else f"{points:g}"
    look = _undecided(result) + len(_missing(assignment, result))
    total = sum(task.points for task in assignment.tasks)
    statuses = [_status(tasks[task.exercise]) for task in assignment.tasks]
    notes = "; ".join(_notes(assignment, result))
    return [result["student"], told, f"{total:g}", late, look, *statuses, notes]


def _points(assignment, task, entry):
    share = entry["share"] if assignment.partial else 0
    return entry.get("decided", task.points if entry["status"] == "passed" else round(task.points * share, 2))


def _status(entry):
    return "decided" if "decided" in entry else entry["status"]


def _missing(assignment, result):
    """The lessons of which nothing was found."""
    found = {name.split(".")[0] for name, task in result["tasks"].items() if _status(task) != "not found"}
    return [lesson for lesson in dict.fromkeys(map(_lesson, assignment.tasks)) if lesson not in found]


def _lesson(task):
    return task.exercise.split(".")[0]


def _notes(assignment, result):
    missing = _missing(assignment, result)
    told = [f"no notebook that can be read checks an exercise of {', '.join(missing)}"] if missing else []
    return [*result["notes"], *told]


def _feedback(assignment, result, row):
    lines = [f"# {' '.join(result['student'].split())}", "", f"{row[1]} of {row[2]} points."]
    if undecided := _undecided(result):
        lines[-1] = f"No points of {row[2]} yet: how many, is still to be decided for {undecided} of your answers."
    if row[3]:
        lines[-1] += f" {row[3]} day{'s' if row[3] > 1 else ''} late: {100 * assignment.late_per_day:g}% less for each."
        lines[-1] += f" You had until {datetime.fromisoformat(assignment.due).isoformat(' ', 'minutes')}."
    lines += ["", *(f"- {note}" for note in _notes(assignment, result))]
    missing = _missing(assignment, result)
    for task in assignment.tasks:
        if _lesson(task) in missing:
            continue
        entry = result["tasks"][task.exercise]
        points = f"{_points(assignment, task, entry):g} of {task.points:g}"
        if "decided" in entry:
            lines += ["", f"## {task.exercise}: {points}, as your instructor decided"]
        elif entry["status"] in UNJUDGED:
            lines += ["", f"## {task.exercise}: not decided yet"]
        else:
            lines += ["", f"## {task.exercise}: {entry['status']}, {points}"]
        if "decided" not in entry or entry["status"] == "wrong":
            lines += ["", *_quoted(entry["message"])]
        if "comment" in entry:
            lines += ["", f"**Your instructor:** {entry['comment']}"]
    return "\n".join(lines) + "\n"


def _quoted(message):
    """What a check said; its numbers stand in columns."""
    first, *rest = message.splitlines() or [""]
    return [first, *(["", "```", *(line.replace("```", "'''") for line in rest), "```"] if rest else [])]


def _of_the_class(assignment, results, remarks):
    came = len(results) - sum(map(_is_absent, results))
    lines = ["# The class", "", f"{came} submissions.", "", *(f"{remark}\n" for remark in remarks)]
    lines += _promises({name for result in results for name in result["lacks"]})
    missing = [result for result in results if _missing(assignment, result)]
    if missing:
        lines += ["", "## Notebooks to look for", ""]
        told = [(" ".join(result["student"].split()), _notes(assignment, result)) for result in missing]
        lines += [f"- {student}: {'; '.join(notes)}" for student, notes in told]
    for task in assignment.tasks:
        entries = [result["tasks"][task.exercise] for result in results]
        counts = Counter(map(_status, entries))
        lines += ["", f"## {task.exercise}", "", ", ".join(f"{n} {status}" for status, n in counts.most_common())]
    return "\n".join(lines) + "\n"


def _promises(lacks):
    """What held for each answer of this run, and what did not."""
    kept = [promise for name, promise in PROMISES.items() if name not in lacks]
    broken = [promise for name, promise in PROMISES.items() if name in lacks]
    lines = ["In this run:", "", *(f"- {promise}" for promise in kept)] if kept else []
    if broken:
        systems = "most machines with Linux do, and few containers"
        lines += ["", f"**Not in this run**, since this system does not allow it ({systems}):", ""]
        lines += [f"- {promise}" for promise in broken]
    return lines


def _identical(results):
    groups = defaultdict(list)
    for result in results:
        for exercise, entry in result["tasks"].items():
            if entry["fingerprint"] and entry["status"] != "not attempted":
                groups[exercise, entry["fingerprint"]].append(" ".join(result["student"].split()))
    equal = sorted((len(students), exercise, students) for (exercise, _), students in groups.items() if students[1:])
    lines = ["# Answers that are equal but for names and comments", "", "The fewest first.", ""]
    for n_students, exercise, students in equal:
        lines.append(f"- {exercise}: {', '.join(students) if n_students <= MOST_NAMED else f'{n_students} students'}")
    lines += [] if equal else ["There are none."]
    often = "Short answers, and those that the lesson prints, are often equal without anybody having copied:"
    lines += ["", f"{often} where more than {MOST_NAMED} wrote the same, they are only counted."]
    return "\n".join(lines) + "\n"
