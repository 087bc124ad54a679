"""What measures pages finds a fault that is planted; that it finds none where there is none, the pages show."""

import json
import re

import pytest
from covers import told_before
from folds import missing_marks
from form import (
    hidden_lessons,
    is_closed_well,
    judging,
    malformed_exercise_headings,
    missing_kinds,
    mistakes_at_the_top,
    open_guards,
)
from limits import long_cells, long_lines

FOLD = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}


def text(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source, **metadata):
    return {"cell_type": "code", "metadata": metadata, "source": source}


def folded(source):
    return code(f"# @title What it does\n{source}", **FOLD)


def written(*cells):
    """A notebook of cells."""
    return {"cells": list(cells)}


@pytest.fixture(scope="module")
def right(root):
    """The cells of a lesson without a fault."""
    cells = json.loads((root / "chapters" / "masking.ipynb").read_text(encoding="utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


@pytest.mark.parametrize(
    ("old", "new", "mistakes", "mistake"),
    [
        (r"\A# (?!@)", "## ", mistakes_at_the_top, "not `# Title`"),
        (r"\?\*\Z", "? A third?*", mistakes_at_the_top, "two sentences"),
        ("Reading about", "Some", mistakes_at_the_top, "Reading about 40 minutes"),
        ("You need", "Bring", mistakes_at_the_top, "You need"),
        ("Afterwards you can", "Then you may", mistakes_at_the_top, "Afterwards"),
        (r"\*\*Predict\.", "**Guess.", missing_kinds, "predict"),
        (r"\*\*Say why\.", "**Think.", missing_kinds, "say why"),
        (r"\*\*By hand\.", "**Try.", missing_kinds, "by hand, or put in order"),
        (r"check\(", "print(", missing_kinds, "build"),
        (r"\(open, ", "(", missing_kinds, "one open task of difficulty 3"),
        ("What a good answer shows", "Hint", missing_kinds, "what a good answer shows"),
        (r" min, difficulty \d", " min, difficulty 4", malformed_exercise_headings, "difficulty 4"),
    ],
)
def test_other_words_in_a_lesson_are_found(right, old, new, mistakes, mistake):
    wrong = [cell | {"source": re.sub(old, new, cell["source"])} for cell in right]
    assert mistake in str(mistakes(written(*wrong))) and not mistakes(written(*right))


@pytest.mark.parametrize(
    ("old", "new"), [("Exercises", "Tasks"), ("What you can do now", "Summary"), ("Papers", "Exercises")]
)
def test_closing_headings_that_are_missing_or_strange_are_found(right, old, new):
    wrong = [cell | {"source": re.sub(f"(?m)^## {old}$", f"## {new}", cell["source"])} for cell in right]
    assert not is_closed_well(written(*wrong))


def test_a_missing_picture_and_an_open_cell_at_the_top_are_found(right):
    assert "no folded cells" in str(mistakes_at_the_top(written(*right[:2], *right[4:])))
    assert "an open cell" in str(mistakes_at_the_top(written(*right[:4], code("1 + 1"), *right[4:])))


@pytest.mark.parametrize(
    ("cell", "found", "faults"),
    [
        (code("b\n" + "a\n" * 25), long_cells, [("b", 26)]),
        (code("a\n" + "x" * 77), long_lines, ["x" * 77]),
        (code("for a in b:\n    assert a == b"), open_guards, ["assert a == b"]),
        (code("%matplotlib inline\nassert low < live < high"), judging, ["assert low < live < high"]),
        (folded("for seed in seeds:\n    assert not right >= 0.5, seed"), judging, ["assert not right >= 0.5, seed"]),
    ],
)
def test_a_cell_that_may_not_be_is_found(cell, found, faults):
    assert found(written(cell)) == faults


@pytest.mark.parametrize("mark", FOLD)
def test_a_fold_that_is_none_elsewhere_is_found(mark):
    others = {name: value for name, value in FOLD.items() if name != mark}
    assert len(missing_marks(code("# @title What it does", **others))) == 1
    assert len(missing_marks(code("layer", **{mark: FOLD[mark]}))) == 3


@pytest.mark.parametrize(
    "definition",
    [
        "class thing:\n    pass",
        "def thing():\n    loss.backward()",
        "def thing():\n    return F.cross_entropy(x, y)",
        "thing = torch.optim.Adam(parameters)",
        "for i in range(3):\n    thing = nn.Linear(2, 2)",
    ],
)
def test_a_lesson_hidden_in_a_fold_is_found_where_an_open_cell_uses_it(definition):
    page = written(folded(definition), code("thing()"))
    assert hidden_lessons(page, [written(folded(definition))]) == ["thing"]
    assert hidden_lessons(page, [written(code(definition))]) == []


@pytest.mark.parametrize("covered", [code, folded])
@pytest.mark.parametrize(
    "before",
    [
        text("You will see that *the first* of them\nis the larger one."),
        code("print('the first of them is the larger one')"),
        code("# the first of them is the larger one"),
    ],
)
def test_a_claim_that_is_told_before_its_question_is_found(before, covered):
    question = text("**Predict.** Which?\n\n<details>\n\nThe first of them is the larger one.\n\n</details>")
    claim = covered("claim(f'the first of them ' 'is the larger one' f'{n} times', True)")
    told = ["the first of them is the larger one"]
    assert told_before(written(before, question, text("**Bold** prose."), code("1 + 1"), claim)) == told
    assert told_before(written(before, question, text("## Later"), claim)) == []
    assert told_before(written(question, claim, before)) == []
