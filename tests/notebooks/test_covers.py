"""No prediction's answer stands open before it is asked for: on the site it is covered until then."""

import pytest
from covers import told_before
from small_notebooks import LESSON, code, folded, text, written

QUESTION = text(
    "**Predict.** Which?\n\n- One.\n- Two.\n\n<details><summary>Answer</summary>\n\n**One.** So it is.\n\n</details>"
)
CLAIM = "claim(\n    'the first of them is '\n    'the larger one',\n    True,\n)"


def test_no_claim_is_told_before_its_question(name, notebook):
    assert told_before(notebook) == []


@pytest.mark.parametrize(
    "before",
    [
        text("You will see that *the first* of them\nis the larger one."),
        code("print('the first of them is the larger one')"),
        code("# the first of them is the larger one"),
        code(CLAIM),
    ],
)
@pytest.mark.parametrize("covered", [code(CLAIM), folded(f"# @title Say it\n{CLAIM}")])
def test_a_claim_that_is_told_before_is_found(before, covered):
    told = ["the first of them is the larger one"]
    assert told_before(written(before, QUESTION, covered)) == told
    assert told_before(written(before, QUESTION, text("**Bold** prose."), code("1 + 1"), covered)) == told
    assert told_before(written(before, QUESTION, text("## Later"), covered)) == []
    assert told_before(written(before, QUESTION, text("**By hand.** How many?"), covered)) == []
    assert told_before(written(QUESTION, covered, before)) == []


def test_what_is_folded_away_is_not_told():
    hidden = text("<details><summary>Answer</summary>\n\nThe first of them is the larger one.\n\n</details>")
    assert told_before(written(hidden, folded(f"# @title Say it\n{CLAIM}"), QUESTION, code(CLAIM))) == []


def test_parts_between_numbers_are_looked_for():
    claim = code("claim(f'of {n} runs the first of them is the larger in {m}', True)")
    told = text("Of 10 runs the first of them is the larger in 9.")
    assert told_before(written(told, QUESTION, claim)) == ["runs the first of them is the larger in"]
    assert told_before(LESSON) == []
