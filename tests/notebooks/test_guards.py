"""No assert stops a reader: what is trained, timed or measured is a claim, and an assert guards equalities alone."""

import pytest
from guards import judging, open_guards
from small_notebooks import code, folded, text, written


def test_guards_are_folded(lesson_or_further, notebook):
    assert open_guards(notebook) == []


def test_asserts_are_equalities(name, notebook):
    assert judging(notebook) == []


@pytest.mark.parametrize("cell", ["assert a == b", "for a in b:\n    assert a == b", "def f(a):\n    assert a == b"])
def test_a_guard_in_an_open_cell_is_found(cell):
    assert open_guards(written(code(cell))) == ["assert a == b"]
    assert open_guards(written(folded(f"# @title Compare both ways\n{cell}"), text("assert a == b"))) == []


@pytest.mark.parametrize(
    "judgement",
    [
        "accuracy > 0.9",
        "seconds['fused'] <= seconds['plain']",
        "low < live < high",
        "not accuracy < 0.9",
        "shape == (2, 3) and accuracy >= 0.9",
        "all((share > 0.9 for share in shares))",
        "(weights > 0.5).all()",
    ],
)
def test_an_assert_that_judges_is_found_open_and_folded(judgement):
    assert judging(written(code(f"%matplotlib inline\nassert {judgement}"))) == [f"assert {judgement}"]
    in_a_loop = folded(f"# @title Train three seeds\nfor seed in seeds:\n    assert {judgement}, seed")
    assert judging(written(in_a_loop)) == [f"assert {judgement}, seed"]


@pytest.mark.parametrize(
    "guard",
    [
        "assert output.shape == (2, 3)",
        "assert torch.equal(output, expected)",
        "assert torch.allclose(output, expected, atol=1e-5)",
        "assert round(total, 3) == 23.994",
        "assert not weights[blocked].any()",
        "claim('a trained model is right', accuracy > 0.9)",
        "if accuracy > 0.9:\n    assert torch.equal(output, expected)",
    ],
)
def test_a_guard_and_a_claim_do_not_judge(guard):
    assert judging(written(code(guard), text("assert accuracy > 0.9"))) == []
