"""What belongs together stays on one line: a formula and the mark behind it, the minutes in a heading."""

import re

from docutils import nodes

MARKS = re.compile(r"[.,;:!?)\]%’”…]+")
BEFORE_MIN = re.compile(r"(?<=\d) (?=min, difficulty)")
NO_BREAK = "\N{NO-BREAK SPACE}"


def join_marks(doctree):
    """Put each formula and the marks right behind it into one node, which the stylesheet does not break."""
    for formula in list(doctree.findall(nodes.math)):
        parent, place = formula.parent, formula.parent.index(formula)
        behind = parent[place + 1] if place + 1 < len(parent) else None
        marks = MARKS.match(behind) if isinstance(behind, nodes.Text) else None
        if marks:
            together = nodes.inline("", "", formula, nodes.Text(marks[0]), classes=["formula-and-mark"])
            parent[place : place + 2] = [together, nodes.Text(behind[marks.end() :])]


def join_minutes(doctree):
    """Keep the number of minutes that an exercise takes beside their unit."""
    for title in doctree.findall(nodes.title):
        for text in list(title.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(BEFORE_MIN.sub(NO_BREAK, text)))


def setup(app):
    """Connect to the reading of pages."""
    app.connect("doctree-read", lambda app, doctree: join_marks(doctree))
    app.connect("doctree-read", lambda app, doctree: join_minutes(doctree))
