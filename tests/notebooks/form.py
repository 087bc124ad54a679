"""The form of a page, read off its notebook: its top, headings and exercises, what folds may hide and asserts judge."""

import ast
import re

from folds import is_folded
from IPython.core.inputtransformer2 import TransformerManager
from limits import EXERCISE, EXERCISES, PAPERS, STATED, exercises, markdown, parts, visible_cells

CLOSING = [EXERCISES, "What you can do now", "Next", PAPERS]
TITLE_AND_QUESTION = re.compile(r"# [^\n]+\n\n\*(?P<question>[^\n]+)\*\s*")
SENTENCE_END = re.compile(r"[.?!](?=\s|$)")

INEQUALITIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)

# What makes a call part of the lesson: a layer, an optimiser or its step, a loss.
TAUGHT = re.compile(r"(^|\.)nn\.[A-Z]|(^|\.)optim\.|\.(backward|zero_grad)$|[lL]oss$|cross_entropy$")


def mistakes_at_the_top(notebook):
    """What is wrong between the title and the first heading: title and question, folded cells, time and needs."""
    first, *rest = parts(notebook)
    top = re.split(r"(?m)^## ", markdown(notebook))[0]
    before_prose = []
    for part in rest:
        if part.cell is None:
            break
        before_prose.append(is_folded(part.cell))
    heading = TITLE_AND_QUESTION.fullmatch(first.text)
    return [
        mistake
        for mistake, made in {
            "the first cell is not `# Title` and the question in italics": not heading,
            "the question is more than two sentences": heading and len(SENTENCE_END.findall(heading["question"])) > 2,
            "no folded cells of setup and of the first picture follow": before_prose[:2] != [True, True],
            "an open cell stands above the first prose": not all(before_prose),
            "no `**Reading about 40 minutes, exercises about 20.**` above the first heading": not STATED.search(top),
            "no `You need` above the first heading": "You need" not in top,
            "no `Afterwards you can` above the first heading": "Afterwards you can" not in top,
        }.items()
        if made
    ]


def closing_headings(notebook):
    """The second-level headings from the exercises on."""
    headings = re.findall(r"(?m)^## (.+?)\s*$", markdown(notebook))
    return headings[headings.index(EXERCISES) :] if EXERCISES in headings else []


def is_closed_well(notebook):
    """Whether a lesson ends in exercises, what its reader can do now, and perhaps what is next and papers, in order."""
    headings = closing_headings(notebook)
    return headings[:2] == CLOSING[:2] and headings == [heading for heading in CLOSING if heading in headings]


def led_to(notebook):
    """The pages that the section on what is next links to."""
    return [
        page for part in parts(notebook) if part.section == "Next" for page in re.findall(r"\]\(([^)#]+)", part.text)
    ]


def malformed_exercise_headings(notebook):
    """Headings of exercises that do not say number, minutes and difficulty."""
    text = "\n\n".join(part.text for part in parts(notebook) if part.section == EXERCISES)
    return [heading for heading in re.findall(r"(?m)^### .*$", text) if not EXERCISE.fullmatch(heading)]


def missing_kinds(notebook):
    """The kinds of exercises that a lesson lacks."""
    text = markdown(notebook)
    open_tasks = [exercise["difficulty"] for exercise in exercises(notebook) if exercise["open"]]
    there = {
        "predict": "**Predict.**" in text,
        "say why": "**Say why.**" in text,
        "by hand, or put in order": "**By hand.**" in text or "**Put in order.**" in text,
        "build": any("check(" in "".join(cell["source"]) for cell in visible_cells(notebook)),
        "one open task of difficulty 3": open_tasks == ["3"],
        "what a good answer shows": "<summary>What a good answer shows</summary>" in text,
    }
    return [kind for kind, is_there in there.items() if not is_there]


def parse(cell):
    """The syntax tree of a code cell: magics become function calls."""
    return ast.parse(TransformerManager().transform_cell("".join(cell["source"])))


def teaches(statement):
    """Whether a statement defines a class, or calls what makes a model, a loss or a step of an optimiser."""
    nodes = list(ast.walk(statement))
    calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.ClassDef) for node in nodes) or any(map(TAUGHT.search, calls))


def names_bound(statement):
    """The names that a definition or an assignment binds."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def statements(notebook, *, folded):
    """The statements at the top of its folded, or of its open, code cells."""
    cells = [part.cell for part in parts(notebook) if part.cell and is_folded(part.cell) == folded]
    return [statement for cell in cells for statement in parse(cell).body]


def hidden_lessons(notebook, before=()):
    """The names of classes, models, losses and steps that a folded cell defines and an open one uses.

    Args:
        notebook: Of a page.
        before: Notebooks that come before it and that it links to. What they define in the open may be folded here.
    """
    hidden = set().union(*map(names_bound, filter(teaches, statements(notebook, folded=True))))
    for earlier in before:
        hidden -= set().union(*map(names_bound, statements(earlier, folded=False)))
    nodes = [node for statement in statements(notebook, folded=False) for node in ast.walk(statement)]
    return sorted(hidden & {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)})


def asserts(notebook):
    """Each assert of a notebook, those in functions and loops included, and the cell in which it stands."""
    cells = [part.cell for part in parts(notebook) if part.cell]
    return [(node, cell) for cell in cells for node in ast.walk(parse(cell)) if isinstance(node, ast.Assert)]


def open_guards(notebook):
    """The asserts that a reader sees: a guard stands in a folded cell."""
    return [ast.unparse(guard) for guard, cell in asserts(notebook) if not is_folded(cell)]


def judging(notebook):
    """The asserts with an inequality in them: what lies above or below a number may lie elsewhere on another machine.

    What is certain by arithmetic is an equality: of shapes, of counts, of floats within a tolerance (`allclose`).
    """
    found = [guard for guard, _ in asserts(notebook)]
    return [ast.unparse(one) for one in found if any(isinstance(node, INEQUALITIES) for node in ast.walk(one.test))]
