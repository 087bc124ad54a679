"""Read a notebook that was handed in, without running any of it: which answers it gives, and what they need."""

import ast
import dataclasses
import json
import re
import symtable
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from attention_classroom.needs import Answer, parts_of, with_needs
from attention_classroom.open_exercises import is_open, written

LARGEST = 20 * 2**20  # bytes of a notebook
CODE = 200_000  # characters of code in it; a lesson has at most a tenth
SHOWN = 20_000  # characters of an answer, to whoever marks by hand
MAGIC = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)
REFUSED = {"SyntaxError", "IndentationError", "TabError"}  # what Jupyter shows below a cell that is not Python
SLOW = 1_000_000  # characters that IPython reads for a notebook's magics: all of a cell for each of them


@dataclass
class Submission:
    """A notebook as it was read.

    Attributes:
        answers: By exercise.
        mentioned: By exercise that stands in it, what keeps its cell from being Python; empty where nothing does.
        lost: Those of them of whose answers nothing can have run.
        problem: Why nothing can be read; empty otherwise.
        sources: By exercise that stands in it, the cells of code that name it, as they were written; of an open one,
            what was written in its place.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    mentioned: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    problem: str = ""
    sources: dict[str, str] = field(default_factory=dict)


def read_text(notebook: str, exercises: list[str]) -> Submission:
    """Read a notebook's text. It may take all the time and memory that there is: `Asker.read` limits them."""
    try:
        cells = json.loads(notebook)["cells"]
        codes = [cell for cell in cells if cell["cell_type"] == "code"]
        sources, ran = ["".join(cell["source"]) for cell in codes], list(map(_has_run, codes))
        asked = [exercise for exercise in exercises if is_open(exercise)]
        answered = written(["".join(cell["source"]) for cell in cells], asked) if asked else {}
        exercises = [exercise for exercise in exercises if not is_open(exercise)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Submission(problem="not a notebook")
    if sum(map(len, sources)) > CODE:
        return Submission(problem=f"more than {CODE} characters of code")
    if sum(len(source) * len(MAGIC.findall(source)) for source in sources) > SLOW:
        return Submission(problem="more magics than can be read")
    try:
        parsed = [(source, *_parsed(source)) for source in sources]
        answers = _answers([statement for _, statements, _ in parsed for statement in statements], exercises)
    except (RecursionError, MemoryError):
        return Submission(problem="its code is nested too deeply to be read")
    except (SyntaxError, ValueError) as error:  # such as a number of more digits than Python writes
        return Submission(problem=f"its code cannot be read: {error}"[:200])
    naming = {exercise: [source for source in sources if exercise in source] for exercise in exercises}
    named = {exercise: "\n\n".join(cells) for exercise, cells in naming.items() if cells}
    broken = {exercise: "; ".join(why for source, _, why in parsed if why and exercise in source) for exercise in named}
    rest = "\n".join(source for (source, _, why), has_run in zip(parsed, ran, strict=True) if has_run or not why)
    lost = [exercise for exercise, text in named.items() if _is_lost(exercise, text, rest)]
    shown = {exercise: shortened(text) for exercise, text in (named | answered).items()}
    return Submission(answers=answers, mentioned=broken, lost=lost, sources=shown)


def shortened(text: str) -> str:
    """What a person is shown of an answer."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n… cut here: the rest is in the notebook"


def read(
    path: Path, exercises: list[str], reader: Callable[[str, list[str]], Submission] = read_text
) -> Submission:
    """Read a notebook's file; whatever is wrong with it is a `problem`, and never an exception.

    Args:
        path: Of the notebook.
        exercises: Those whose answers are looked for.
        reader: Reads its text.
    """
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        return Submission(problem="not a file of its own")
    if path.stat().st_size > LARGEST:
        return Submission(problem=f"larger than {LARGEST >> 20} MB")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return Submission(problem="not a notebook")
    return reader(text, exercises)


def as_message(submission: Submission) -> dict:
    """As JSON."""
    return dataclasses.asdict(submission)


def from_message(message: dict) -> Submission:
    """What `as_message` was given."""
    answers = {exercise: Answer(**answer) for exercise, answer in message["answers"].items()}
    return Submission(**message | {"answers": answers})


def _parsed(source):
    """A cell's statements, none where it is not Python, and why; magics and shell commands become calls."""
    source = re.sub(r"\A\s*%%(time|timeit|capture)\b.*", "", source)  # the code below counts
    for code in (lambda: source, lambda: TransformerManager().transform_cell(source)):
        try:
            return _tree(code()).body, ""
        except RecursionError:
            raise
        except SyntaxError as error:
            why = f"{error.msg} in line {error.lineno}"
        except (ValueError, RuntimeError) as error:  # the last for hundreds of magics in one cell
            why = str(error)
    return [], why[:200]


def _has_run(cell):
    """Whether Python took the cell where it was written, which may have been a newer Python."""
    shown = (output for output in cell.get("outputs") or () if isinstance(output, dict))
    return any(output.get("ename") not in REFUSED for output in shown)


def _is_lost(exercise, text, rest):
    """Whether nothing that can have run, which is the rest, names the exercise or what was given to its check."""
    quoted = rf"""["']{re.escape(exercise)}["']"""
    given = re.findall(rf"{quoted}\s*,\s*(\w+)\b(?!\s*=)", text)
    return bool(given) and not any(re.search(one, rest) for one in (quoted, *(rf"\b{name}\b" for name in given)))


def _tree(code):
    symtable.symtable(code, "notebook", "exec")  # refuses what the parser takes, such as two arguments of one name
    return ast.parse(code)


def _answers(statements, exercises):
    """By exercise, the answer that was checked last."""
    last, names, modules, texts = {}, {"check"}, set(), {}
    for place, statement in enumerate(statements):
        _note_aliases(statement, names, modules)
        texts |= _texts(statement)
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and _is_check(call.func, names, modules):
                exercise, answer = _arguments(call, texts)
                if exercise in exercises and answer is not None:
                    last[exercise] = place, answer
    parts = parts_of(statements)
    # Definitions that stand before the check count before later ones.
    return {
        exercise: with_needs(answer, parts[place + 1 :], parts[: place + 1], statements[place])
        for exercise, (place, answer) in last.items()
    }


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
