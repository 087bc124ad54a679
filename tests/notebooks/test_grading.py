"""The grading function that the instructors' page prints does what the page says."""

import json
import re
from pathlib import Path

import pytest

from attention_course.exercises import chapter_exercises

JACOBIAN = "scale.softmax_jacobian"
DROPOUT = "scaled_dot_product.dropout"
IMPORTS = "import torch\n\nfrom attention_course import check"
RIGHT = "def answer(x):\n    p = x.softmax(0)\n    return torch.diag(p) - torch.outer(p, p)"
CHECK = f'check("{JACOBIAN}", answer)'

# Notebooks, as lists of code cells, with a right answer in each.
HANDED_IN = {
    "as it was meant": [IMPORTS, f"{RIGHT}\n\n\n{CHECK}"],
    "!pip": ["!pip install nothing", IMPORTS, f"!ls\n{RIGHT}\n{CHECK}"],
    "%magic": [IMPORTS, "%matplotlib inline", f"{RIGHT}\n{CHECK}"],
    "%magic in a comment": [IMPORTS, f"# %pip did not work here\n{RIGHT}\n{CHECK}"],
    "%%time": [IMPORTS, f"%%time\n{RIGHT}\n{CHECK}"],
    "%%writefile": ["%%writefile notes.txt\nThis is no Python.", IMPORTS, f"{RIGHT}\n{CHECK}"],
    "help?": [IMPORTS, "torch.diag?\n?check", f"{RIGHT}\n{CHECK}"],
    "a syntax error elsewhere": [IMPORTS, "def (:", f"{RIGHT}\n{CHECK}"],
    "a missing module elsewhere": [f"import no_such_module\n{IMPORTS}", f"{RIGHT}\n{CHECK}"],
    "an error elsewhere": [IMPORTS, "1 / 0", f"{RIGHT}\n{CHECK}"],
    "sys.exit()": [IMPORTS, "import sys\n\nsys.exit()", f"{RIGHT}\nsys.exit()\n{CHECK}"],
    "a helper in another cell": [
        IMPORTS,
        "def helper(p):\n    return torch.diag(p) - torch.outer(p, p)",
        f"def answer(x):\n    return helper(x.softmax(0))\n\n{CHECK}",
    ],
    "a helper behind the check": [
        IMPORTS,
        f"def answer(x):\n    return helper(x)\n\n{CHECK}",
        RIGHT.replace("answer", "helper"),
    ],
    "a constant in another cell": [
        IMPORTS,
        "OUTER, PLACE = torch.tensor(1.0), 0",
        f"{RIGHT.replace('- ', '- OUTER * ').replace('(0)', '(PLACE)')}\n{CHECK}",
    ],
    "a star import": [
        "from attention_course import *\nfrom torch import *",
        f"{RIGHT.replace('torch.', '')}\n{CHECK}",
    ],
    "answer and check in two cells": [IMPORTS, RIGHT, CHECK],
    "keyword arguments": [IMPORTS, f'{RIGHT}\ncheck(answer=answer, exercise_id="{JACOBIAN}")'],
    "a wrong answer first": [IMPORTS, f"def answer(x):\n    return x\n\n{CHECK}", f"{RIGHT}\n{CHECK}"],
    "a name that another exercise uses too": [
        IMPORTS,
        f"{RIGHT}\n{CHECK}",
        f'def answer(weights, p, kept):\n    return ...\n\ncheck("{DROPOUT}", answer)',
    ],
    "a check that check would not take": [IMPORTS, "check()\ncheck(len)", f"{RIGHT}\n{CHECK}"],
}


@pytest.fixture
def grade(root):
    """The function, taken from the page."""
    page = (root / "instructors" / "index.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def grade" in block)
    names = {}
    exec(code.split("\n\n\nassigned")[0], names)  # the loop wants notebooks that are not there
    return names["grade"]


@pytest.fixture
def hand_in(tmp_path):
    """Writes code cells as a notebook and returns its path."""

    def write(*sources):
        cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
        path = tmp_path / "handed_in.ipynb"
        path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# A chapter"]}, *cells]}))
        return path

    return write


def test_an_untouched_notebook_has_nothing_attempted(grade, root, chapter):
    verdicts = grade(root / chapter)
    assert sorted(verdicts) == sorted(chapter_exercises(Path(chapter).stem))
    assert {verdict.status for verdict in verdicts.values()} == {"not attempted"}


@pytest.mark.parametrize("cells", HANDED_IN.values(), ids=HANDED_IN.keys())
def test_nothing_around_a_right_answer_costs_its_marks(grade, hand_in, cells):
    assert grade(hand_in(*cells))[JACOBIAN].status == "passed"


def test_given_code_counts_when_it_is_mended(grade, hand_in):
    helper = "from attention_course.exercises.multi_head import MULTI_HEAD"
    call = 'check("multi_head.attention", answer)'
    for answer, status in {"given": "not attempted", "reference": "passed"}.items():
        verdict = grade(hand_in(IMPORTS, helper, f"answer = MULTI_HEAD.{answer}", call))["multi_head.attention"]
        assert verdict.status == status


def test_a_wrong_answer_is_called_wrong(grade, hand_in):
    verdict = grade(hand_in(IMPORTS, f'check("{DROPOUT}", lambda *inputs: None)'))[DROPOUT]
    assert verdict.status == "wrong"


def test_what_an_answer_does_not_use_is_not_run(grade, hand_in, tmp_path):
    trace = tmp_path / "trace"
    other = f"text = open({str(trace)!r}, 'w').write('ran')"
    assert grade(hand_in(IMPORTS, other, f"{RIGHT}\n{CHECK}"))[JACOBIAN].passed
    assert not trace.exists()


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([IMPORTS, f"def answer(x:\n    return ...\n\n{CHECK}"], "SyntaxError"),
        ([IMPORTS, f"import no_such_module\n\nanswer = no_such_module.answer\n{CHECK}"], "ModuleNotFoundError"),
        ([IMPORTS, f"import sys\n\nanswer = sys.exit()\n{CHECK}"], "SystemExit"),
        ([IMPORTS, CHECK], "NameError"),
        ([IMPORTS, RIGHT], "its check was not found"),
    ],
)
def test_no_verdict_comes_with_its_reason(grade, hand_in, cells, reason):
    status = grade(hand_in(*cells), assigned=[JACOBIAN])[JACOBIAN].status
    assert status.startswith("no verdict: ")
    assert reason in status
