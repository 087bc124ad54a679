"""Exercises of the page "Why one head is not enough"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception


def decode(blends, share):
    mentor = blends.argmax(-1)
    rest = blends - share * F.one_hot(mentor, blends.size(-1))
    return mentor, rest.argmax(-1)


def _decode_inputs(size, generator):
    n_rooms, n_letters = 2 * size + 4, size + 2
    mentor, friend = torch.randint(n_letters, (2, n_rooms), generator=generator)
    mentor[-2:] = friend[-2:] = n_letters - 1  # rooms in which both hold the same letter
    mentor[0], friend[0] = n_letters - 1, 1
    mentor[1], friend[1] = 1, n_letters - 1
    share = round(0.55 + 0.42 * torch.rand(1, generator=generator).item(), 2)
    letters = torch.eye(n_letters)
    return share * letters[mentor] + (1 - share) * letters[friend], share


def _second_largest(blends, share):
    mentor = blends.argmax(-1)
    return mentor, blends.masked_fill(F.one_hot(mentor, blends.size(-1)).bool(), -1.0).argmax(-1)


def _by_the_alphabet(blends, share):
    held = (blends > 0).int()
    return held.argmax(-1), blends.size(-1) - 1 - held.flip(-1).argmax(-1)


DECODE = Exercise(
    "one_head.decode",
    decode,
    _decode_inputs,
    (
        Misconception(
            "second largest",
            _second_largest,
            "You took the largest and the second largest number. Where both people hold the same letter, only one "
            "number is above 0, and your friend's letter is one that nobody holds.",
        ),
        Misconception(
            "exchanged",
            lambda blends, share: decode(blends, share)[::-1],
            "You have both letters, and the wrong way round: the larger weight lies on the mentor.",
        ),
        Misconception(
            "by the alphabet",
            _by_the_alphabet,
            "You named the letters in the order of the alphabet. That says what was found and not who held it, which "
            "is all that an even head can say; these weights are not even.",
        ),
        Misconception(
            "the mentor twice",
            lambda blends, share: (blends.argmax(-1), blends.argmax(-1)),
            "You named the mentor's letter twice. Take away what the mentor has added to the blend before you look "
            "for the friend's.",
        ),
        Misconception(
            "everything of the mentor's letter taken away",
            lambda blends, share: (
                blends.argmax(-1),
                (blends * (1 - F.one_hot(blends.argmax(-1), blends.size(-1)))).argmax(-1),
            ),
            "You set the mentor's letter to 0 before you looked for the friend's. Where the friend holds the same "
            "letter, nothing is left then. How much of it is the mentor's?",
        ),
    ),
)


EXERCISES = (DECODE,)
