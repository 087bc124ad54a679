"""What being late costs, and for whom the time ends later."""

import math
from dataclasses import replace
from datetime import datetime

from attention_classroom.assignment import Assignment
from attention_classroom.roster import Roster

DAY = 24 * 60 * 60  # seconds


def as_due(assignment: Assignment, roster: Roster, student: str) -> Assignment:
    """The assignment with the due date of one student, which an extension moves."""
    return replace(assignment, due=roster.due.get(student, assignment.due))


def days_late(assignment: Assignment, handed_in: str | None) -> int:
    """How many days late have begun; 0 where there is no late rule or no time is known."""
    if assignment.due is None or handed_in is None:
        return 0
    due, came = datetime.fromisoformat(assignment.due), datetime.fromisoformat(handed_in)
    return max(0, math.ceil((came - due).total_seconds() / DAY))


def share_left(assignment: Assignment, handed_in: str | None) -> float:
    """The share of its points that is left to a late notebook."""
    return max(0.0, 1 - assignment.late_per_day * days_late(assignment, handed_in))
