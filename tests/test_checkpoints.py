import math

import pytest
import torch
import torch.nn.functional as F

from attention_course import recorded
from attention_course.checkpoints import load_character_model

WINDOW = 128


def bits(model, vocabulary, text, masked):
    """Mean over the second halves of windows that overlap by half, window by window in float64."""
    symbols = torch.tensor([vocabulary.index(character) for character in text])
    model = model.double()
    losses = []
    for start in range(0, len(symbols) - WINDOW, WINDOW // 2):
        window = symbols[start : start + WINDOW + 1]
        mask = None if masked else torch.ones(WINDOW, WINDOW, dtype=torch.bool)
        with torch.no_grad():
            logits, _ = model(window[None, :-1], mask)
        half = WINDOW // 2
        losses.append(F.cross_entropy(logits[0, half:], window[half + 1 :], reduction="none"))
    return torch.cat(losses).mean().item() / math.log(2)


@pytest.mark.parametrize("trained", ["causal", "unmasked"])
def test_what_is_loaded_is_what_was_measured(trained):
    """The bits of a character that the record tells, on the held-out text that it holds."""
    model, vocabulary = load_character_model(trained)
    assert not model.training
    sample = recorded.load("character_model")["models"][trained]["sample"]
    assert len(sample["text"]) == 2_000
    assert bits(model, vocabulary, sample["text"], trained == "causal") == pytest.approx(sample["bits"], abs=0.005)


def test_the_causal_model_is_good_and_small():
    """On all of the held-out text; small enough to travel to a reader's browser."""
    record = recorded.load("character_model")["models"]["causal"]
    assert record["bits"] <= 1.85
    assert record["bits_otherwise"] > record["bits"] + 1  # a causal model does not know what to do with the future
    assert len(record["weights"]) < 1_000_000


def test_the_other_one_cheats():
    """Almost no loss while it sees what it predicts; twice that of the causal model where it cannot."""
    record = recorded.load("character_model")["models"]["unmasked"]
    assert record["bits"] < 0.1
    assert record["bits_otherwise"] > 3.5


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match=r"trained must be one of \['causal', 'unmasked'\], got 'other'"):
        load_character_model("other")
