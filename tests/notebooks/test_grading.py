"""The grading function that the instructors' page prints does what the page says."""

import json
import re

import pytest


@pytest.fixture
def grade(root):
    """The function, taken from the page."""
    page = (root / "instructors" / "index.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def grade" in block)
    names = {}
    exec(code.split("\n\n\nfor exercise")[0], names)  # the loop wants a notebook that is not there
    return names["grade"]


def test_an_untouched_notebook_has_nothing_attempted(grade, root, chapter):
    verdicts = grade(root / chapter)
    assert len(verdicts) >= 4
    assert {verdict.status for verdict in verdicts.values()} == {"not attempted"}


def test_right_and_wrong_answers_are_told_apart(grade, tmp_path):
    cells = ["import torch\n\nfrom attention_course import check"]
    answers = {
        "scaled_dot_product.softmax_jacobian": "torch.diag(x.softmax(0)) - torch.outer(x.softmax(0), x.softmax(0))",
        "scaled_dot_product.dropout": "None",
    }
    for number, (exercise, answer) in enumerate(answers.items()):
        cells.append(f'def answer_{number}(x, *others):\n    return {answer}\n\ncheck("{exercise}", answer_{number})')
    notebook = {"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]}
    path = tmp_path / "handed_in.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    verdicts = grade(path)
    assert [verdicts[exercise].passed for exercise in answers] == [True, False]
