"""`python -m attention_course grade`: marks, feedback and a page of the class from submitted notebooks."""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

from attention_classroom import installed
from attention_classroom.assignment import Assignment
from attention_classroom.grading import FAILED, grade_all
from attention_classroom.handed_in import not_read, submissions
from attention_classroom.marking import write_marking
from attention_classroom.overrides import read_decided
from attention_classroom.packed import pack_feedback
from attention_classroom.reports import write_reports, write_times
from attention_classroom.roster import Roster, absent_result, read_roster
from attention_classroom.times import read_times


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status."""
    given = _parser().parse_args(arguments)
    if not hasattr(os, "fork"):
        print("grade: this needs Linux or macOS, since it forks; on Windows take WSL or a container", file=sys.stderr)
        return 2
    try:
        assignment = Assignment.load(given.assignment)
        handed_in = submissions(given.submissions)
        times, remarks = _times(given, assignment, handed_in)
        remarks += _of_another_package(assignment) + _of_other_files(given.submissions)
        roster = read_roster(given.roster, assignment.due, handed_in) if given.roster else Roster()
        remarks += roster.remarks
        # A mistake in it is to be told now.
        read_decided(given.out / "decided.csv", assignment, [*handed_in, *roster.absent])
        with ThreadPoolExecutor(given.jobs) as executor:
            results = grade_all(assignment, handed_in, given.out / ".results", executor, given.jobs, _tell)
        remarks += _of_the_grader(results)
        results += [absent_result(assignment, student) for student in roster.absent]
        remarks = write_reports(
            assignment, results, given.out, times, remarks, given.assignment.parent, roster, handed_in
        )
        remarks += pack_feedback(handed_in, roster, given.out)
        remarks += write_marking(assignment, results, given.assignment.parent, given.out / "decided.csv")
    except (ValueError, OSError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    print(f"{len(handed_in)} submissions: {given.out / 'grades.csv'}", *remarks, sep="\n")
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="python -m attention_course grade", description=__doc__)
    parser.add_argument("assignment", type=Path, metavar="ASSIGNMENT", help="the assignment.json that assign wrote")
    parser.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="a folder of notebooks")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for tables and feedback")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="submissions at once (2)")
    parser.add_argument("--times", type=Path, metavar="CSV", help="lines of student,time for the late rule")
    parser.add_argument("--roster", type=Path, metavar="CSV", help="the class, lines of student,extension")
    return parser


def _times(given, assignment, handed_in):
    """When each student handed in, and what to say about that."""
    if assignment.due is None:
        return {}, ["There is no due date in this assignment: the times do not count."] if given.times else []
    if given.times:
        return read_times(given.times, assignment.due, handed_in)
    table = given.out / "times.csv"
    write_times(handed_in, assignment.due, table)
    return {}, [f"Nothing was counted late, since no times were given: fill in {table} and name it by --times."]


def _of_another_package(assignment):
    made, here = (assignment.version, assignment.commit), (installed.version(), installed.commit())
    if made[0] == here[0] and (made[1] == here[1] or not (made[1] and here[1])):
        return []
    told = [" ".join(filter(None, (version, commit[:10]))) for version, commit in (made, here)]
    return [f"Assigned with {told[0]} of the package, and {told[1]} is installed: exercises may differ."]


def _of_other_files(folder):
    names = ", ".join(map(repr, not_read(folder)))
    return [f"Not read, since these are no notebooks (.ipynb) and do not say whose they are: {names}."] if names else []


def _of_the_grader(results):
    failed = [result["notes"][0] for result in results if "".join(result["notes"]).startswith(FAILED)]
    if len(failed) < len(results) or not results:
        return []
    return [f"Nobody was judged, and nobody's notebook is the reason: {failed[0]}."]


def _tell(done, of, seconds):
    end = datetime.now() + timedelta(seconds=seconds / done * (of - done))
    last = "\n" if done == of else ""
    print(f"\r{done} of {of}, all by {end:%H:%M:%S} ", end=last, file=sys.stderr, flush=True)
