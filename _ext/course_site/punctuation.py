"""A mark that follows a formula, such as the end of its sentence, stays on the formula's line."""

import re

from docutils import nodes

MARKS = re.compile(r"[.,;:!?)\]%’”…]+")


def join_marks(doctree):
    """Put each formula and the marks right behind it into one node, which the stylesheet does not break."""
    for formula in list(doctree.findall(nodes.math)):
        parent, place = formula.parent, formula.parent.index(formula)
        behind = parent[place + 1] if place + 1 < len(parent) else None
        marks = MARKS.match(behind) if isinstance(behind, nodes.Text) else None
        if marks:
            together = nodes.inline("", "", formula, nodes.Text(marks[0]), classes=["formula-and-mark"])
            parent[place : place + 2] = [together, nodes.Text(behind[marks.end() :])]


def setup(app):
    """Connect to the reading of pages."""
    app.connect("doctree-read", lambda app, doctree: join_marks(doctree))
