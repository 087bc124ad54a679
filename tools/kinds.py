"""What a claim is about: something trained or timed, something recorded, or arithmetic alone.

What a notebook computes is followed from cell to cell by the names that its statements bind. A statement that trains
marks all that it binds or touches as trained, since a model is changed in place; what uses a marked name is marked.
"""

import ast

from dependencies import parse_cell
from notebooks import code_cells

EXACT, RECORDED, TRAINED = "exact", "recorded", "trained"  # in this order, by the alphabet too
# Names that mark what uses them: of the package, and what tells the time.
MARKS = {
    "recorded": RECORDED,
    **dict.fromkeys(["training", "checkpoints", "load_character_model", "measure", "perf_counter"], TRAINED),
}
TRAINING_CALLS = {"backward", "step", "fit"}


def names_in(statement, context):
    """The names that a statement reads (`ast.Load`) or binds (`ast.Store`)."""
    nodes = list(ast.walk(statement))
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found


def changed_in_place(statement):
    """The names of which a statement calls a method, as in `losses.append(loss)`."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    roots = [call.value for call in calls if isinstance(call, ast.Attribute)]
    while any(isinstance(root, ast.Attribute | ast.Subscript) for root in roots):
        roots = [root.value if isinstance(root, ast.Attribute | ast.Subscript) else root for root in roots]
    return {root.id for root in roots if isinstance(root, ast.Name)}


def trains(statement):
    """Whether a statement trains something itself."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(call, ast.Attribute) and call.attr in TRAINING_CALLS for call in calls)


def kind_of(statement, marked):
    """What a statement deals with, given what the names are that it reads."""
    read = [marked.get(name, EXACT) for name in names_in(statement, ast.Load)]
    return TRAINED if trains(statement) else max(read, default=EXACT)


def calls_any(statement, names):
    """Whether a statement calls one of the functions of these names."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(call, ast.Name) and call.id in names for call in calls)


def kinds_of_claims(notebook):
    """For each cell that claims something, what its claims are about: `{cell id: kind}`."""
    marked, kinds, imported = dict(MARKS), {}, set(MARKS)
    claiming = {"claim"}  # and the notebook's own functions that call it
    for _, cell in code_cells(notebook):
        for statement in parse_cell(cell.source).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imported |= {alias.asname or alias.name for alias in statement.names}
                continue
            kind = kind_of(statement, marked)
            if calls_any(statement, claiming):
                kinds[cell.id] = max(kind, kinds.get(cell.id, EXACT))
                claiming |= {statement.name} if isinstance(statement, ast.FunctionDef) else set()
            touched = names_in(statement, ast.Store)
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                touched |= names_in(statement, ast.Load) if kind == TRAINED else changed_in_place(statement)
            for name in touched - imported:
                marked[name] = max(kind, marked.get(name, EXACT))
    return kinds
