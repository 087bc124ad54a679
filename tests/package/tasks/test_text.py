from pydoc_data.topics import topics

import pytest
import torch

from attention_course import tasks


@pytest.fixture(scope="module")
def text():
    return tasks.python_help()


def test_decoding_undoes_encoding(text):
    assert text.encode("").dtype == torch.long
    sample = 'The "with" statement\n'
    assert text.decode(text.encode(sample)) == sample
    assert torch.equal(text.encode(text.decode(text.train[:500])), text.train[:500])


def test_the_text_is_the_help_pages_and_every_paragraph_stands_there_once(text):
    whole = text.decode(torch.cat([text.train, text.validation]))
    paragraphs = [" ".join(paragraph.split()) for paragraph in whole.split("\n\n")]
    assert len(set(paragraphs)) == len(paragraphs)
    pages = {" ".join(paragraph.split()) for page in topics.values() for paragraph in page.split("\n\n")}
    assert set(paragraphs) == pages


def test_no_long_passage_of_the_training_part_comes_again_in_validation(text):
    train, validation = text.decode(text.train), text.decode(text.validation)
    assert not [start for start in range(0, len(validation) - 200, 100) if validation[start : start + 200] in train]


def test_the_vocabulary_holds_each_character_once(text):
    assert len(set(text.vocabulary)) == len(text.vocabulary)
    symbols = torch.cat([text.train, text.validation])
    assert torch.equal(symbols.unique(), torch.arange(len(text.vocabulary)))


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_the_share_decides_how_much_is_held_out(share):
    text = tasks.python_help(share)
    held_out = len(text.validation) / (len(text.train) + len(text.validation))
    assert held_out == pytest.approx(share, abs=1e-4)


def test_windows_are_pieces_of_the_text_and_reach_both_ends():
    symbols = torch.arange(100, 110)
    pieces = tasks.windows(symbols, 200, 4, torch.Generator().manual_seed(0))
    assert pieces.shape == (200, 4)
    assert (pieces.diff(dim=1) == 1).all()
    assert (pieces.min(), pieces.max()) == (100, 109)


def test_the_seed_decides():
    draws = [tasks.windows(torch.arange(1000), 5, 3, torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)]
    assert torch.equal(draws[0], draws[1]) and not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("validation_share must lie", lambda text: tasks.python_help(1.0)),
        ("text must be made of", lambda text: text.encode("ε")),
        ("length must lie", lambda text: tasks.windows(text.train[:5], 1, 6, torch.Generator())),
    ],
)
def test_bad_input_is_named(message, call, text):
    with pytest.raises(ValueError, match=message):
        call(text)
