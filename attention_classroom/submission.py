"""Read a notebook that was handed in, without running any of it: which answers it gives, and what they need."""

import ast
import json
import re
import symtable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from IPython.core.inputtransformer2 import TransformerManager

from attention_classroom.needs import Answer, parts_of, with_needs

LARGEST = 20 * 2**20  # bytes of a notebook
CODE = 200_000  # characters of code in it; a lesson has at most a tenth
MAGIC = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)
SLOW = 1_000_000  # characters that IPython reads for a notebook's magics: all of a cell for each of them
REFUSED = re.compile(
    r"attention_classroom|attention_course\s*\.\s*"
    r"(?:classroom|exercises\s*\.\s*(?!judging\s*\.\s*(?:checking|drawing|gradients|running)\b)\w)"
)
# The one such line that stands in a lesson: these functions tell how well a model did.
PUBLISHED = re.compile(r"^from attention_course\.exercises\.projects import (?:grade_\w+(?:, )?)+$", re.MULTILINE)
ONE_PARSER = Lock()  # Python 3.11 counts the depth of syntax trees once for all threads, and fails where two build some


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
    if sum(len(source) * len(MAGIC.findall(source)) for source in sources) > SLOW:
        return Submission(problem="more magics than can be read")
    try:
        with ONE_PARSER:
            statements = [statement for source in sources for statement in _parsed(source)]
            code = "\n".join(map(ast.unparse, statements))
            if REFUSED.search(PUBLISHED.sub("", code)):
                return Submission(problem="it names the modules of the references or of the grader")
            answers = _answers(statements, exercises)
    except (RecursionError, MemoryError):
        return Submission(problem="its code is nested too deeply to be read")
    except (SyntaxError, ValueError) as error:  # such as a number of more digits than Python writes
        return Submission(problem=f"its code cannot be read: {error}"[:200])
    text = "\n".join(sources)
    return Submission(answers=answers, mentioned={exercise for exercise in exercises if exercise in text})


def _parsed(source):
    """A cell's statements, none where it is not Python; magics and shell commands become calls."""
    source = re.sub(r"\A\s*%%(time|timeit|capture)\b.*", "", source)  # the code below counts
    for code in (lambda: source, lambda: TransformerManager().transform_cell(source)):
        try:
            return _tree(code()).body
        except RecursionError:
            raise
        except (SyntaxError, ValueError, RuntimeError):  # the last for hundreds of magics in one cell
            pass
    return []


def _tree(code):
    symtable.symtable(code, "notebook", "exec")  # refuses what the parser takes, such as two arguments of one name
    return ast.parse(code)


def _answers(statements, exercises):
    """By exercise, the answer that was checked last."""
    found, names, modules, texts = {}, {"check"}, set(), {}
    parts = parts_of(statements)
    for place, statement in enumerate(statements):
        _note_aliases(statement, names, modules)
        texts |= _texts(statement)
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and _is_check(call.func, names, modules):
                exercise, answer = _arguments(call, texts)
                if exercise in exercises and answer is not None:
                    # Definitions that stand before the check count before later ones.
                    found[exercise] = with_needs(answer, parts[place + 1 :], parts[: place + 1], statement)
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


def _texts(statement):
    """What a statement such as `EXERCISE = "scale.divisor"` says, by name."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return {}
    return {target.id: statement.value.value for target in statement.targets if isinstance(target, ast.Name)}


def _arguments(call, texts):
    given = dict(zip(("exercise_id", "answer"), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    exercise = given.get("exercise_id")
    if isinstance(exercise, ast.Name):
        return texts.get(exercise.id), given.get("answer")
    return (exercise.value if isinstance(exercise, ast.Constant) else None), given.get("answer")
