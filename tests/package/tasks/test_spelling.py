import torch

from attention_course import tasks
from attention_course.tasks import spelling


def test_a_target_reads_as_the_name_of_the_digit_and_then_ends():
    for digit, name in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")):
        symbols = spelling.spell(torch.tensor([digit]))[0]
        assert symbols.shape == (spelling.N_TARGET,) == (6,)
        assert spelling.to_text(symbols) == name
        after = symbols.tolist()[len(name) :]
        assert after == [spelling.END] + [spelling.PAD] * (len(after) - 1)


def test_images_and_labels_are_those_of_the_handwritten_digits():
    for spelled, digits in zip(
        spelling.spelled_digits(test_share=0.3, seed=2), tasks.handwritten_digits(0.3, 2), strict=True
    ):
        assert torch.equal(spelled.source, digits.images) and torch.equal(spelled.labels, digits.labels)
        assert len(spelled) == len(digits) == len(spelled.target)
        assert torch.equal(spelled.target, spelling.spell(digits.labels))


def test_two_digits_share_a_first_letter_only_where_their_names_do():
    first = spelling.spell(torch.arange(10))[:, 0].tolist()
    shared = {
        (spelling.NAMES[a], spelling.NAMES[b]) for a in range(10) for b in range(a + 1, 10) if first[a] == first[b]
    }
    assert shared == {("two", "three"), ("four", "five"), ("six", "seven")}
