import pytest

from attention_course import tasks


def test_a_word_becomes_its_letters_with_their_followers():
    letters, followers = tasks.letter_pairs(["cab", "be"])
    pairs = [tasks.ALPHABET[a] + tasks.ALPHABET[b] for a, b in zip(letters.tolist(), followers.tolist(), strict=True)]
    assert pairs == ["·c", "ca", "ab", "b·", "·b", "be", "e·"]


def test_the_words_are_different_sorted_and_spelled_in_small_letters():
    words = tasks.manual_words()
    assert len(words) > 1_000 and words == sorted(set(words))
    assert {"python", "with", "object"} <= set(words)
    assert {letter for word in words for letter in word} == set(tasks.ALPHABET[1:])


@pytest.mark.parametrize(
    ("words", "told"), [(["Cab"], "'Cab'"), (["don't"], "don't"), ([], "at least one"), ([""], "''")]
)
def test_other_words_are_refused(words, told):
    with pytest.raises(ValueError, match=told):
        tasks.letter_pairs(words)
