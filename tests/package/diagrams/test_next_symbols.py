"""The picture of the shift shows what the model computes and what it writes."""

import numpy as np
import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

VOCABULARY = "ehlo"


@pytest.fixture
def model():
    torch.manual_seed(0)
    return CausalLanguageModel(len(VOCABULARY), 8, 1, 1, attention=RotaryAttention())


@pytest.mark.parametrize("word", ["hello", "lo"])
def test_weights_and_probabilities_are_those_of_the_model(model, word):
    symbols = torch.tensor([VOCABULARY.index(letter) for letter in word])
    logits, weights = model(symbols[None], need_weights=True)
    n = len(word) - 1
    cells = drawn(diagrams.next_symbols(model, VOCABULARY, word))
    assert np.allclose(cells["weights"], weights[0][0, 0, :n, :n].detach(), atol=1e-3)
    probabilities = logits.softmax(-1)[0, range(n), symbols[1:]]
    assert np.allclose(cells["probability of the target"][:, 0], probabilities.detach(), atol=1e-3)


def test_the_targets_are_the_inputs_shifted_and_the_writing_is_the_models(model):
    written = texts(diagrams.next_symbols(model, VOCABULARY, "hello"))
    letters = [text for text in written if text in VOCABULARY]
    columns, rest = letters[:4], letters[4:]
    assert columns == list("hell")
    assert rest[:8] == ["h", "e", "e", "l", "l", "l", "l", "o"]  # input and target, row by row
    text = "h"
    for _ in range(4):
        logits, _ = model(torch.tensor([[VOCABULARY.index(letter) for letter in text]]))
        text += VOCABULARY[logits[0, -1].argmax()]
    # "h" and what follows it; then "h", that, and what follows; and so on.
    assert "".join(rest[8:]) == "".join(text[:length] for length in range(2, 6))


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(ValueError, match="word must have 2 to 5 characters, got 'h'"):
        diagrams.next_symbols(model, VOCABULARY, "h")
    with pytest.raises(ValueError, match="model must have one block with one head"):
        diagrams.next_symbols(CausalLanguageModel(4, 8, 2, 1), VOCABULARY, "hello")


def test_what_is_written_while_it_learns_is_shown_whole_with_its_bits():
    moments = [("untrained", 6.5, "The " + "x" * 60), ("after 100 steps", 3.25, "The end")]
    picture = diagrams.while_it_learns(moments)
    shown = "".join(texts(picture)).replace("\N{NO-BREAK SPACE}", " ")
    for when, bits, text in moments:
        assert f"{when}: {bits:.2f} bits" in shown
        assert text in shown
        assert text in picture.alt
