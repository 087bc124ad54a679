import math

import pytest
import torch
import torch.nn.functional as F

from attention_course.course import recorded, training
from attention_course.course.checkpoints import load_character_model, load_translator, make_translator, translator_parts
from attention_course.decoding import cut_after
from attention_course.tasks import translation

WINDOW = 128


def bits(model, vocabulary, text, causal):
    """Mean over the second halves of windows that overlap by half, window by window in float64."""
    symbols = torch.tensor([vocabulary.index(character) for character in text])
    model = model.double()
    losses = []
    for start in range(0, len(symbols) - WINDOW, WINDOW // 2):
        window = symbols[start : start + WINDOW + 1]
        with torch.no_grad():
            logits, _ = model(window[None, :-1], causal=causal)
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


def test_the_causal_model_is_good_and_small_and_the_other_one_cheats():
    """On all of the held-out text; small enough to travel to a reader's browser."""
    record, other = recorded.load("character_model")["models"].values()
    assert record["bits"] <= 1.85
    assert record["bits_otherwise"] > record["bits"] + 1  # a causal model does not know what to do with the future
    assert len(record["weights"]) < 1_000_000
    assert other["bits"] < 0.1  # while it sees what it predicts
    assert other["bits_otherwise"] > 3.5


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match=r"trained must be one of \['causal', 'unmasked'\], got 'other'"):
        load_character_model("other")


@pytest.mark.parametrize("steps", [100, 300])
def test_the_translator_is_as_good_as_the_record_says(steps):
    """Its loss, and the share of sentences without a mistake, on the held-out sentences that the settings name."""
    record = recorded.load("translator")
    model = load_translator(steps)
    assert not model.training
    seed = torch.Generator().manual_seed(record["settings"]["test_seed"])
    pairs = translation.translation_pairs(record["settings"]["test_sentences"], seed)
    with torch.no_grad():
        loss = training.sequence_loss(model, pairs, pad=translation.PAD).item()
    assert loss == pytest.approx(record["models"][str(steps)]["loss"], abs=1e-3)
    written = cut_after(model.generate(pairs.source, translation.N_TARGET), translation.END, translation.PAD)
    exact = training.accuracy(written, pairs.target)["sequences"]
    assert exact == pytest.approx(record["models"][str(steps)]["exact"], abs=0.01)


def test_translators_are_of_one_training_and_small_enough_to_travel():
    record = recorded.load("translator")
    assert list(record["models"]) == ["100", "300"]
    assert record["models"]["100"]["exact"] < 0.5 < 0.97 < record["models"]["300"]["exact"]
    assert sum(len(model["weights"]) for model in record["models"].values()) < 1_400_000


def test_the_parts_of_a_translator_hold_each_parameter_once():
    model = make_translator(recorded.load("translator")["settings"])
    parts = list(translator_parts(model).parameters())
    assert {id(part) for part in parts} == {id(parameter) for parameter in model.parameters()}
    assert sum(value.numel() for value in translator_parts(model).state_dict().values()) == sum(map(torch.numel, parts))


def test_the_translator_after_other_steps_is_refused():
    with pytest.raises(ValueError, match=r"steps must be one of \[100, 300\], got 200"):
        load_translator(200)
