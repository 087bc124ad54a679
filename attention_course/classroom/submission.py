"""Read a notebook that was handed in, without running any of it: which answers it gives, and what they need."""

import ast
import json
import re
import symtable
from dataclasses import dataclass, field
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

LARGEST = 20 * 2**20  # bytes of a notebook
REFUSED = re.compile(r"attention_course\s*\.\s*(?:classroom|exercises\s*\.\s*(?!checking|drawing|gradients|running)\w)")
# The one such line that stands in a lesson: these functions tell how well a model did.
PUBLISHED = re.compile(r"^from attention_course\.exercises\.projects import (?:grade_\w+(?:, )?)+$", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
SURE = (*FUNCTIONS, *IMPORTS, ast.Assign, ast.AnnAssign)  # each defines its names, whatever stood before
HARMLESS = {"print", "check", "display", "repr", "str", "len", "help"}  # calls that change no argument


@dataclass(frozen=True)
class Answer:
    """What was given to the check of an exercise.

    Attributes:
        expression: The answer, as an expression.
        statements: What has to run before it, in order.
        uncertain: Whether a call that is left out may have changed what the answer uses.
    """

    expression: str
    statements: list[str]
    uncertain: bool


@dataclass
class Submission:
    """A notebook as it was read.

    Attributes:
        answers: By exercise.
        mentioned: Exercises that stand in it and whose answer cannot be read.
        problem: Why nothing can be read, or why it is refused; empty otherwise.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)
    problem: str = ""


def read(path: Path, exercises: list[str]) -> Submission:
    """Read a notebook; whatever is wrong with the file is a `problem`, and never an exception."""
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        return Submission(problem="not a file of its own")
    if path.stat().st_size > LARGEST:
        return Submission(problem=f"larger than {LARGEST >> 20} MB")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Submission(problem="not a notebook")
    statements, broken = [], []
    for source in sources:
        try:
            statements += _parsed(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            broken.append(source)
    text = "\n".join(map(ast.unparse, statements))
    if REFUSED.search(PUBLISHED.sub("", text)):
        return Submission(problem="it names the modules of the references or of the grader")
    return Submission(
        answers=_answers(statements, exercises),
        mentioned={exercise for exercise in exercises if exercise in "\n".join([text, *broken])},
    )


def _parsed(source):
    """A cell's statements; magics and shell commands become calls, which nothing asks for."""
    source = re.sub(r"\A\s*%%(time|timeit|capture)\b.*", "", source)  # the code below counts
    return ast.parse(TransformerManager().transform_cell(source)).body


def _answers(statements, exercises):
    """By exercise, the answer that was checked last."""
    found, names, modules = {}, {"check"}, set()
    for place, statement in enumerate(statements):
        _note_aliases(statement, names, modules)
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and _is_check(call.func, names, modules):
                exercise, answer = _arguments(call)
                if exercise in exercises and answer is not None:
                    # Definitions that stand before the check count before later ones.
                    found[exercise] = _with_needs(answer, statements[place + 1 :] + statements[: place + 1], statement)
    return found


def _note_aliases(statement, names, modules):
    """Other names of `check`, and of the package."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ImportFrom) and node.module == "attention_course":
            names |= {alias.asname or alias.name for alias in node.names if alias.name == "check"}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == "attention_course"}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}


def _is_check(function, names, modules):
    if isinstance(function, ast.Attribute):
        return function.attr == "check" and isinstance(function.value, ast.Name) and function.value.id in modules
    return isinstance(function, ast.Name) and function.id in names


def _arguments(call):
    given = dict(zip(("exercise_id", "answer"), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    exercise = given.get("exercise_id")
    return (exercise.value if isinstance(exercise, ast.Constant) else None), given.get("answer")


def _with_needs(answer, statements, checked):
    """The answer with those statements that it needs: what defines its names, what changes them, and so on."""
    imported = {
        name for statement in statements if isinstance(statement, IMPORTS) for name in _bound(statement)
    }
    kept, needed, waiting = set(), set(), {(name, len(statements)) for name in _used(answer)}
    while waiting:
        name, limit = waiting.pop()
        needed.add((name, limit))
        for place in _places(name, statements[:limit], imported, checked):
            kept.add(place)
            # A function looks its names up when it is called; anything else, where it stands.
            end = len(statements) if isinstance(statements[place], FUNCTIONS) else place
            waiting |= {(used, end) for used in _used(statements[place])} - needed
    names = {name for name, _ in needed}
    values = {name for place in kept for name in _bound(statements[place]) if isinstance(statements[place], ast.Assign)}
    left_out = [statement for place, statement in enumerate(statements) if place not in kept]
    return Answer(
        expression=ast.unparse(answer),
        statements=[ast.unparse(statements[place]) for place in sorted(kept)],
        uncertain=any(_handed_over(statement) & names & values for statement in left_out),
    )


def _places(name, statements, imported, checked):
    """Where a name gets its value: the last statement that surely defines it, and what may change it afterwards."""
    found = []
    for place in reversed(range(len(statements))):
        statement = statements[place]
        if statement is checked and not isinstance(statement, FUNCTIONS):
            continue
        if name in _bound(statement):
            found.append(place)
            if isinstance(statement, SURE):
                break
        elif name in _changed(statement, imported):
            found.append(place)
    return found


def _used(node):
    """The names of the notebook that a statement or an expression looks up, and not a function's own."""
    names, tables = set(), [symtable.symtable(ast.unparse(node), "notebook", "exec")]
    top = tables[0]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (table is top or symbol.is_global())
        }
    return names


def _bound(statement):
    """The names that a statement defines."""
    if isinstance(statement, FUNCTIONS):
        return {statement.name}
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(statement):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def _changed(statement, imported):
    """The names whose value a statement changes in place: `x[0] = …`, `x.y = …`, `x += …`, `x.append(…)`.

    A call such as `torch.manual_seed(0)` changes no name that was imported.
    """
    if isinstance(statement, FUNCTIONS):
        return set()
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(_root(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(statement, ast.Expr):
            names |= {_root(node.func)} - imported
    return names - {None}


def _root(node):
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _handed_over(statement):
    """The names that a statement gives to a function which may change them."""
    return {
        argument.id
        for call in ast.walk(statement)
        if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and _root(call.func) not in HARMLESS
        for argument in call.args
        if isinstance(argument, ast.Name)
    }


def fingerprint(answer: Answer) -> tuple[str, int]:
    """An answer's code without names, comments and docstrings, and how many parts it has: to find equal ones."""
    tree = ast.parse("\n".join([*answer.statements, answer.expression]))
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.setdefault(node.name, f"n{len(names)}")
            if ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
        elif isinstance(node, ast.Name):
            node.id = names.setdefault(node.id, f"n{len(names)}")
        elif isinstance(node, ast.arg):
            node.arg = names.setdefault(node.arg, f"n{len(names)}")
    return ast.dump(tree), sum(1 for _ in ast.walk(tree))
