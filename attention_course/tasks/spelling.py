"""Handwritten digits and their English names, letter by letter: the source is an image, the target a word."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch
from attention_course.tasks.digits import handwritten_digits

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PAD, END = 0, 1
VOCABULARY = ("<pad>", ".", *sorted(set("".join(NAMES))))
IDS = {symbol: index for index, symbol in enumerate(VOCABULARY)}
N_TARGET = 1 + max(map(len, NAMES))  # the letters and a period


@dataclass
class SpelledDigits(Batch):
    """Images, and the names of what they show.

    Attributes:
        source: Grey values from 0 to 1, `(batch, 8, 8)`.
        target: Letters, a period and `PAD`, indices into `VOCABULARY`, `(batch, N_TARGET)`.
        labels: The digits, integers `(batch,)`.
    """

    source: Tensor
    target: Tensor
    labels: Tensor


def spelled_digits(test_share: float = 0.25, seed: int = 0) -> tuple[SpelledDigits, SpelledDigits]:
    """The digits of `handwritten_digits` with their names.

    Args:
        test_share: Share of the digits in the second part.
        seed: Of the split.

    Returns:
        The digits for training, and those for testing.
    """
    train, test = (
        SpelledDigits(digits.images, spell(digits.labels), digits.labels)
        for digits in handwritten_digits(test_share, seed)
    )
    return train, test


def spell(labels: Tensor) -> Tensor:
    """Digits `(batch,)` to their names `(batch, N_TARGET)`, as in `SpelledDigits.target`."""
    words = [[IDS[letter] for letter in name] + [END] for name in NAMES]
    table = torch.tensor([word + [PAD] * (N_TARGET - len(word)) for word in words])
    return table.to(labels.device)[labels]


def to_text(symbols: Tensor) -> str:
    """One name `(n_symbols,)` as it is written, without period and padding."""
    return "".join(VOCABULARY[symbol] for symbol in symbols.tolist() if symbol not in (PAD, END))
