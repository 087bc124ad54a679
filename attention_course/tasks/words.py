"""English words, and which letter follows which in them."""

import re
from pydoc_data.topics import topics

import torch
from torch import Tensor

ALPHABET = "·abcdefghijklmnopqrstuvwxyz"


def manual_words() -> list[str]:
    """The different words of Python's own help pages, sorted: about 2,900, which differ between its versions.

    A word here is a run of at least three small letters, once capitals are made small.
    """
    return sorted(set(re.findall(r"\b[a-z]{3,}\b", " ".join(topics.values()).lower())))


def letter_pairs(words: list[str]) -> tuple[Tensor, Tensor]:
    """Every letter of the words with the letter that follows it.

    Symbols are places in `ALPHABET`, whose first sign `·` stands before and behind each word.

    Args:
        words: Of the letters a to z.

    Returns:
        The letters and their followers, integers `(n_pairs,)` each.

    Raises:
        ValueError: If a word holds another sign, or there is no word.
    """
    if not words:
        raise ValueError("words must hold at least one word, got none")
    strange = [word for word in words if not re.fullmatch("[a-z]+", word)]
    if strange:
        raise ValueError(f"words must be made of the letters a to z, got {strange[0]!r}")
    spelled = [[0, *(ALPHABET.index(letter) for letter in word), 0] for word in words]
    pairs = [pair for symbols in spelled for pair in zip(symbols, symbols[1:], strict=False)]
    letters, followers = torch.tensor(pairs).T
    return letters, followers
