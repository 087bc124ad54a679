"""The picture of a drafted text shows what each call kept, threw away and added."""

import pytest
from reading import texts

from attention_course import diagrams

CALLS = [("the ", 2, "a"), ("xyz", 3, " "), ("q", 0, "w")]


def test_every_character_is_there_and_the_rows_say_how_many():
    written = texts(diagrams.drafted_calls(CALLS, "If"))
    for character in "thexyzqaw":
        assert written.count(character) == 1, character
    assert written.count("\N{OPEN BOX}") == 2
    assert [text for text in written if text.endswith(" more")] == ["3 more", "4 more", "1 more"]


def test_what_is_kept_has_a_box_what_goes_a_stroke_and_what_is_added_a_frame():
    svg = diagrams.drafted_calls(CALLS, "If").svg
    assert svg.count('class="course-tone-key"') == 2 + 3 + 0
    assert svg.count('class="course-weight"') == 2 + 0 + 1
    assert svg.count('class="course-frame"') == len(CALLS)


def test_the_words_count_what_was_written():
    assert "8 characters in 3 calls" in diagrams.drafted_calls(CALLS, "If").alt


@pytest.mark.parametrize("call", [("ab", 3, "c"), ("ab", -1, "c"), ("abcdefgh", 2, "c")])
def test_impossible_calls_are_refused(call):
    with pytest.raises(ValueError, match="at most 7 drafted"):
        diagrams.drafted_calls([call], "If")
