"""The picture of an exchanged memory shows the words and the exchanges it is given."""

import pytest
from reading import texts

from attention_course import diagrams

WORDS, OTHERS = ["the", "cat", "sees"], ["the", "cow", "hears"]


def test_each_row_shows_its_exchange_and_what_is_written():
    picture = diagrams.exchanged_memory(
        WORDS, OTHERS, [("nothing", [], "le", 0.994), ("the noun", [1], "la", 0.871), ("the verb", {2}, "le", 0.5)]
    )
    assert texts(picture) == [
        *("nothing", "the", "cat", "sees", "le  99%"),
        *("the noun", "the", "cow", "sees", "la  87%"),
        *("the verb", "the", "cat", "hears", "le  50%"),
    ]
    assert picture.svg.count("course-tone-key") == 2
    assert "the noun: la, 87%" in picture.alt


def test_a_box_is_marked_though_both_sentences_have_the_same_word_there():
    picture = diagrams.exchanged_memory(WORDS, OTHERS, [("the", [0], "le", 1.0)])
    assert picture.svg.count("course-tone-key") == 1


def test_sentences_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="others must have a word for each of the 3 words, got 2"):
        diagrams.exchanged_memory(WORDS, OTHERS[:2], [])
