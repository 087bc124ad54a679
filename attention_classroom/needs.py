"""Which of a notebook's statements an answer needs: those that define its names, those that change them, and so on."""

import ast
import hashlib
import symtable
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

LONG = 30  # parts of an answer: shorter ones are equal by chance
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (*DEFS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
SURE = (*FUNCTIONS, *IMPORTS, ast.Assign, ast.AnnAssign)  # each defines its names, whatever stood before
HARMLESS = {"print", "check", "display", "help", "len", "repr", "str", "type", "isinstance"}  # change no argument


@dataclass(frozen=True)
class Answer:
    """What was given to the check of an exercise.

    Attributes:
        expression: The answer, as an expression.
        statements: What has to run before it, in order.
        uncertain: Whether something that is left out may have changed what the answer uses.
        fingerprint: The same for code that is the same but for names, comments and docstrings; empty for short code.
    """

    expression: str
    statements: list[str]
    uncertain: bool
    fingerprint: str


@dataclass(frozen=True)
class Part:
    """A statement of the notebook, with the names that it defines, looks up, changes and hands over."""

    statement: ast.stmt
    bound: set[str]
    used: set[str]
    changed: set[str]
    handed_over: set[str]


def parts_of(statements: list[ast.stmt]) -> list[Part]:
    """A notebook's statements with their names."""
    imported = set().union(*(_bound(statement) for statement in statements if isinstance(statement, IMPORTS)))
    functions = [statement for statement in statements if isinstance(statement, DEFS)]
    changing = {one.name: (_changes_within(one, imported) | _given(one)) & _used(one) for one in functions}
    return [
        Part(
            statement, _bound(statement), _used(statement), _changed(statement, imported),
            _handed_over(statement, changing),
        )
        for statement in statements
    ]  # fmt: skip


def with_needs(answer: ast.expr, behind: list[Part], before: list[Part], checked: ast.stmt) -> Answer:
    """The answer with those statements that it needs: what defines its names, what changes them, and so on.

    Args:
        answer: The expression that was given to a check.
        behind: The notebook's statements behind the check: what stands before it counts before them.
        before: Those before it, and the one with the check.
        checked: That one.
    """
    parts = [*behind, *before]
    places, names, kept, seen = defaultdict(list), set(), set(), set()
    for place, part in enumerate(parts):
        # What checks the answer asks for it, and does not make it.
        if part.statement is not checked or isinstance(checked, FUNCTIONS):
            for name in part.bound | part.changed:
                places[name].append(place)
    waiting = [(name, len(parts)) for name in _used(answer)]
    while waiting:
        name, limit = waiting.pop()
        names.add(name)
        for place in _from_behind(places[name], places["*"], limit):
            part = parts[place]
            if (name, place) in seen:  # with all that stands before it
                break
            seen.add((name, place))
            if place not in kept:
                kept.add(place)
                # A function looks its names up when it is called; anything else, where it stands.
                end = len(parts) if isinstance(part.statement, FUNCTIONS) else place
                waiting += [(other, end) for other in part.used]
            if name in part.bound and isinstance(part.statement, SURE):
                break
    kept_parts = [parts[place] for place in kept]
    no_values = (*FUNCTIONS, *IMPORTS)
    values = {name for part in kept_parts for name in part.bound if not isinstance(part.statement, no_values)}
    needs = [parts[place].statement for place in sorted(kept)]
    # A notebook's `from __future__ import …` holds for all that is run after it.
    future = [one.statement for one in parts if getattr(one.statement, "module", "") == "__future__"]
    # What stands behind the check may need an import where it is defined, as a decorator or a base.
    first = [one for one in needs if isinstance(one, IMPORTS)] if min(kept, default=0) < len(behind) else []
    return Answer(
        expression=ast.unparse(answer),
        statements=[ast.unparse(ast.Module([*future, one], [])) for one in [*first, *needs]],
        uncertain=any(
            part.handed_over & names & values
            for place, part in enumerate(parts)
            if place not in kept and part.statement is not checked
        ),
        fingerprint=_fingerprint([*needs, ast.Expr(answer)]),
    )


def _from_behind(places, stars, limit):
    """The places before a limit, the last first; at those of `from … import *` any name may be defined."""
    both = sorted({*places, *stars}) if stars else places
    for index in reversed(range(bisect_left(both, limit))):
        yield both[index]


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
            if symbol.is_declared_global() or symbol.is_referenced() and (table is top or symbol.is_global())
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
    return set() if isinstance(statement, FUNCTIONS) else _changes_within(statement, imported)


def _changes_within(statement, imported):
    """The same, in the body of a function too."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(_root(node))
    methods = {_root(call.func) for call in _unasked_calls(statement) if isinstance(call.func, ast.Attribute)}
    return (names | methods - imported) - {None}


def _unasked_calls(statement):
    """The calls whose result nobody keeps: they are made for what they change or show."""
    alone = (node for node in ast.walk(statement) if isinstance(node, ast.Expr))
    return [call for one in alone for call in ast.walk(one) if isinstance(call, ast.Call)]


def _root(node):
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _handed_over(statement, changing):
    """The names whose values may be changed by what a statement calls, or later by a second name.

    Args:
        statement: Of the notebook.
        changing: The notebook's functions, with the names of the notebook that each may change.
    """
    if isinstance(statement, FUNCTIONS):
        given = {node.id for one in statement.decorator_list for node in ast.walk(one) if isinstance(node, ast.Name)}
        called = set()
    else:
        given, called = _given(statement), {_root(call.func) for call in _calls(statement)}
    return given.union(*(changing.get(name, ()) for name in given | called))


def _given(node):
    """The names that are given to a call or whose method is called, and those whose value gets a second name."""
    calls = [call for call in _calls(node) if _root(call.func) not in HARMLESS]
    functions = {id(call.func) for call in calls}
    inside = [part for call in calls for part in ast.walk(call) if id(part) not in functions]
    second = [part.value for part in ast.walk(node) if isinstance(part, ast.Assign | ast.AnnAssign)]
    second += [part.iter for part in ast.walk(node) if isinstance(part, ast.For)]
    return {part.id for part in inside if isinstance(part, ast.Name)} | set(map(_root, second)) - {None}


def _calls(node):
    return [call for call in ast.walk(node) if isinstance(call, ast.Call)]


def _fingerprint(statements):
    tree = ast.parse("\n".join(map(ast.unparse, statements)))
    nodes, names = list(ast.walk(tree)), {}
    if len(nodes) < LONG:
        return ""
    # Python's own names and those of modules stay: max is not min.
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.setdefault(node.name, f"n{len(names)}")
            if ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
        elif isinstance(node, ast.Name) and node.id in own:
            node.id = names.setdefault(node.id, f"n{len(names)}")
        elif isinstance(node, ast.arg):
            node.arg = names.setdefault(node.arg, f"n{len(names)}")
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
