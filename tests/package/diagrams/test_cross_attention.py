"""The picture of the three attentions shows one run of a translator, and what its masks hide."""

import numpy as np
import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams
from attention_course.course.checkpoints import load_translator
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.tasks.translation import IDS, PAD, VOCABULARY

SENTENCE = ["the", "black", "cat", "sees", "a", "dog", "."]
TRANSLATION = ["le", "chat", "noir", "voit", "un", "chien", "."]


@pytest.fixture(scope="module")
def model():
    return load_translator()


@pytest.fixture(scope="module")
def picture(model):
    return diagrams.three_attentions(model, VOCABULARY, SENTENCE, end=".")


@torch.no_grad()
def test_maps_are_the_last_blocks_means(model, picture):
    """Of the same sentence without padding: what is hidden has no say."""
    source, target = (torch.tensor([[IDS[word] for word in words]]) for words in (SENTENCE, TRANSLATION))
    cells = drawn(picture)
    _, across = model(source, target, need_weights=True)
    tolerance = {"rtol": 0, "atol": 1e-3}
    np.testing.assert_allclose(cells["target reads source"][:, :-1], across[-1][0].mean(0), **tolerance)
    _, among = model.encoder(model.positions(model.embedding(source)), need_weights=True)
    np.testing.assert_allclose(cells["source reads source"][:, :-1], among[-1][0].mean(0), **tolerance)
    for name, hidden in {"source reads source": 7, "target reads source": 7}.items():
        assert cells[name].shape == (7, 8) and (cells[name][:, -1] == 0).sum() == hidden
    assert np.array_equal(cells["target reads target"] == 0, np.triu(np.ones((7, 7)), 1) == 1)
    for weights in cells.values():
        np.testing.assert_allclose(weights.sum(1), 1, atol=5e-3)


def test_words_crosses_and_rows_are_those_of_the_run(picture):
    written = texts(picture)
    assert written.count("×") == 7 + 21 + 7
    rows = [text.removeprefix("after ") for text in written if text.startswith("after ")]
    assert rows == ["start", *TRANSLATION[:-1]]
    assert written[-(len(TRANSLATION) + 3) : -3] == TRANSLATION
    assert "after le it looks most at cat and writes chat" in picture.alt


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(ValueError, match="sentence must have 2 to 8 words, got 1"):
        diagrams.three_attentions(model, VOCABULARY, ["cat"], end=".")
    untrained = EncoderDecoder(len(VOCABULARY), 8, 2, 1, pad=PAD)
    torch.nn.init.constant_(untrained.lm_head.bias[IDS["le"]], 1e3)
    with pytest.raises(ValueError, match="must end after at most 8 words"):
        diagrams.three_attentions(untrained, VOCABULARY, SENTENCE, end=".")
