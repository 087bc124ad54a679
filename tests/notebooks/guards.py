"""Which asserts of a notebook are more than guards: an assert that fails stops a reader, a claim does not."""

import ast

from folds import is_folded
from form import parse

INEQUALITIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def asserts(cell):
    """The asserts of a code cell, those in functions and loops included."""
    return [node for node in ast.walk(parse(cell)) if isinstance(node, ast.Assert)]


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def open_guards(notebook):
    """The asserts that a reader sees: a guard stands in a folded cell."""
    cells = [cell for cell in code_cells(notebook) if not is_folded(cell)]
    return [ast.unparse(guard) for cell in cells for guard in asserts(cell)]


def judging(notebook):
    """The asserts with an inequality in them: what lies above or below a number may lie elsewhere on another machine.

    What is certain by arithmetic is an equality: of shapes, of counts, of floats within a tolerance (`allclose`).
    """
    return [
        ast.unparse(guard)
        for cell in code_cells(notebook)
        for guard in asserts(cell)
        if any(isinstance(node, INEQUALITIES) for node in ast.walk(guard.test))
    ]
