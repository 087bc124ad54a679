import numpy as np
import pytest
import torch

from attention_course import claim


@pytest.mark.parametrize("truth", [bool, np.bool_, np.array, torch.tensor])
def test_a_claim_prints_whether_it_holds_and_goes_on(capsys, truth):
    claim("two is more than one", truth(True))
    claim("one is more than two", truth(False))
    assert capsys.readouterr().out == "✓ two is more than one\n✗ not so in this run: one is more than two\n"


def test_a_quiet_claim_prints_only_where_it_does_not_hold(capsys):
    claim("two is more than one", True, quiet=True)
    claim("one is more than two", False, quiet=True)
    assert capsys.readouterr().out == "✗ not so in this run: one is more than two\n"


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
