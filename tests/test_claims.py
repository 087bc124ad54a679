import nbformat
import numpy as np
import pytest
import torch
from notebooks import run

from attention_course import claim

TRUTHS = {
    "Python": bool,
    "NumPy": np.bool_,
    "a NumPy array": np.array,
    "PyTorch": torch.tensor,
}


@pytest.fixture(autouse=True)
def lenient(monkeypatch):
    """As in a reader's notebook, whatever runs the tests."""
    monkeypatch.delenv("COURSE_STRICT", raising=False)


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_a_claim_prints_whether_it_holds_and_goes_on(capsys, truth):
    claim("two is more than one", truth(True))
    claim("one is more than two", truth(False))
    assert capsys.readouterr().out == "✓ two is more than one\n✗ not so in this run: one is more than two\n"


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_a_strict_run_fails_where_a_claim_does(capsys, monkeypatch, truth):
    monkeypatch.setenv("COURSE_STRICT", "1")
    claim("two is more than one", truth(True))
    with pytest.raises(AssertionError, match="not so in this run: one is more than two"):
        claim("one is more than two", truth(False))
    assert capsys.readouterr().out == "✓ two is more than one\n"


@pytest.mark.parametrize(
    "condition",
    [1.0, 0, None, "yes", [True], torch.tensor([True, False]), torch.tensor([True]), torch.tensor(1.0), np.ones(2)],
)
def test_a_condition_that_is_not_one_truth_value_is_refused(capsys, condition):
    with pytest.raises(TypeError, match="^condition must be one truth value, got "):
        claim("anything", condition)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("sentence", ["", "  ", "two\nlines"])
def test_a_sentence_that_is_not_one_line_is_refused(sentence):
    with pytest.raises(ValueError, match="^sentence must be one line"):
        claim(sentence, True)


def test_a_false_claim_fails_the_build(tmp_path, monkeypatch):
    """The build, the seeds and nbval run notebooks strictly; tools/alone.py probes the kernels of the last."""
    (tmp_path / "_config.yml").write_text("execute:\n  timeout: 60\n")
    monkeypatch.chdir(tmp_path)
    cell = nbformat.v4.new_code_cell("from attention_course import claim\nclaim('one is more than two', 1 > 2)")
    done = run("page", nbformat.v4.new_notebook(cells=[cell]))
    assert [error for _, _, error in done.failures] == ["AssertionError: not so in this run: one is more than two"]
