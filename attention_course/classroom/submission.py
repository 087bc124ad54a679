"""Read a notebook that was handed in, without running any of it: which answers it gives, and what they need."""

import ast
import hashlib
import json
import re
import symtable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from IPython.core.inputtransformer2 import TransformerManager

LARGEST = 20 * 2**20  # bytes of a notebook
CODE = 200_000  # characters of code in it; a lesson has at most a tenth
REFUSED = re.compile(r"attention_course\s*\.\s*(?:classroom|exercises\s*\.\s*(?!checking|drawing|gradients|running)\w)")
# The one such line that stands in a lesson: these functions tell how well a model did.
PUBLISHED = re.compile(r"^from attention_course\.exercises\.projects import (?:grade_\w+(?:, )?)+$", re.MULTILINE)
LONG = 30  # parts of an answer: shorter ones are equal by chance
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
SURE = (*FUNCTIONS, *IMPORTS, ast.Assign, ast.AnnAssign)  # each defines its names, whatever stood before
ONE_PARSER = Lock()  # Python 3.11 counts the depth of syntax trees once for all threads, and fails where two build some
HARMLESS = {"print", "check", "display", "repr", "str", "len", "help"}  # calls that change no argument


@dataclass(frozen=True)
class Answer:
    """What was given to the check of an exercise.

    Attributes:
        expression: The answer, as an expression.
        statements: What has to run before it, in order.
        uncertain: Whether a call that is left out may have changed what the answer uses.
        fingerprint: The same for code that is the same but for names, comments and docstrings; empty for short code.
    """

    expression: str
    statements: list[str]
    uncertain: bool
    fingerprint: str


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
    if sum(map(len, sources)) > CODE:
        return Submission(problem=f"more than {CODE} characters of code")
    try:
        with ONE_PARSER:
            statements = [statement for source in sources for statement in _parsed(source)]
            code = "\n".join(map(ast.unparse, statements))
            if REFUSED.search(PUBLISHED.sub("", code)):
                return Submission(problem="it names the modules of the references or of the grader")
            answers = _answers(statements, exercises)
    except (RecursionError, MemoryError):
        return Submission(problem="its code is nested too deeply to be read")
    text = "\n".join(sources)
    return Submission(answers=answers, mentioned={exercise for exercise in exercises if exercise in text})


def _parsed(source):
    """A cell's statements, none where it is not Python; magics and shell commands become calls."""
    source = re.sub(r"\A\s*%%(time|timeit|capture)\b.*", "", source)  # the code below counts
    try:
        return ast.parse(TransformerManager().transform_cell(source)).body
    except (SyntaxError, ValueError):
        return []


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
    bound, used = list(map(_bound, statements)), list(map(_used, statements))
    imported = {name for place, names in enumerate(bound) if isinstance(statements[place], IMPORTS) for name in names}
    changed = [_changed(statement, imported) for statement in statements]
    sure = [isinstance(statement, SURE) for statement in statements]
    for place, statement in enumerate(statements):
        if statement is checked and not isinstance(statement, FUNCTIONS):
            bound[place], changed[place] = set(), set()  # it asks for the answer, and does not make it
    kept, needed, waiting = set(), set(), {(name, len(statements)) for name in _used(answer)}
    while waiting:
        name, limit = waiting.pop()
        needed.add((name, limit))
        for place in reversed(range(limit)):
            if name in bound[place] | changed[place]:
                kept.add(place)
                # A function looks its names up when it is called; anything else, where it stands.
                end = len(statements) if isinstance(statements[place], FUNCTIONS) else place
                waiting |= {(other, end) for other in used[place]} - needed
            if name in bound[place] and sure[place]:
                break
    names = {name for name, _ in needed}
    values = {name for place in kept for name in bound[place] if isinstance(statements[place], ast.Assign)}
    left_out = [statement for place, statement in enumerate(statements) if place not in kept]
    needs = [statements[place] for place in sorted(kept)]
    return Answer(
        expression=ast.unparse(answer),
        statements=list(map(ast.unparse, needs)),
        uncertain=any(_handed_over(statement) & names & values for statement in left_out),
        fingerprint=_fingerprint([*needs, ast.Expr(answer)]),
    )


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


def _fingerprint(statements):
    tree = ast.parse("\n".join(map(ast.unparse, statements)))
    nodes, names = list(ast.walk(tree)), {}
    if len(nodes) < LONG:
        return ""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.setdefault(node.name, f"n{len(names)}")
            if ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
        elif isinstance(node, ast.Name):
            node.id = names.setdefault(node.id, f"n{len(names)}")
        elif isinstance(node, ast.arg):
            node.arg = names.setdefault(node.arg, f"n{len(names)}")
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
