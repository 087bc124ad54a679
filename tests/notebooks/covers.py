"""What the predictions of a notebook cover on the site, and which of its claims stand open before the question."""

import ast
import re

from folds import is_folded
from form import parse
from limits import FENCED, FOLDED_TEXT

PREDICTIONS = ("**Predict.**", "**Say why.**")
QUESTION = r"\*\*(?:Predict|Say why|By hand|Put in order)\.\*\*"
PIECE = re.compile(rf"(?m)^(?=#+ |{QUESTION})")
MARKS = re.compile(r"[*_`$\\]|\s+")
FEWEST_WORDS = 5  # of a part of a sentence that holds numbers of the run


def plain(text):
    """The words of a text, without Markdown's marks, so that they can be compared."""
    return " ".join(MARKS.sub(" ", text).lower().split())


def pieces(cell):
    """A cell of Markdown, divided where a heading or a question begins."""
    return [piece for piece in PIECE.split(FENCED.sub("", "".join(cell["source"]))) if piece.strip()]


def strings(node):
    """The texts in a piece of code; of one with numbers of the run the parts between them."""
    return [leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)]


def sentences(cell):
    """For each claim of a cell its sentence, or its longer parts between the numbers of the run."""
    calls = [
        node for node in ast.walk(parse(cell)) if isinstance(node, ast.Call) and ast.unparse(node.func) == "claim"
    ]
    for call in calls:
        said = call.args[0]
        parts = strings(said)
        yield parts if isinstance(said, ast.Constant) else [part for part in parts if len(part.split()) >= FEWEST_WORDS]


def told_before(notebook):
    """The claims of covered cells that stand, word for word, in text or open code before their question."""
    found, met, is_covered = [], [], False
    before = ""  # what a reader has met when the question is asked
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            if is_covered:
                parts = [plain(part) for sentence in sentences(cell) for part in sentence]
                found += [part for part in parts if part in before]
            if not is_folded(cell):
                met += ["".join(cell["source"]), *strings(parse(cell))]
            continue
        for piece in pieces(cell):
            is_question = bool(re.match(QUESTION, piece))
            if is_question or piece.startswith("#"):
                is_covered = piece.startswith(PREDICTIONS)
            if is_covered and is_question:
                before = plain("\n".join(met))
            met.append(FOLDED_TEXT.sub("", piece))
    return found
