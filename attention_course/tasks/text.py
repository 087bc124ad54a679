"""English text for a character model: the help pages that ship with Python."""

from dataclasses import dataclass
from pydoc_data.topics import topics

import torch
from torch import Tensor


@dataclass(frozen=True)
class CharacterText:
    """A text as symbols, one a character, cut into a part to learn from and an unseen one to be judged by.

    Attributes:
        vocabulary: The characters of the text, each once: a symbol is an index into it.
        train: Symbols of the first part, integers `(n_train,)`.
        validation: Symbols of the rest, `(n_validation,)`.
    """

    vocabulary: str
    train: Tensor
    validation: Tensor

    def encode(self, text: str) -> Tensor:
        """The symbols of a text, integers `(len(text),)`.

        Raises:
            ValueError: If a character is not in the vocabulary.
        """
        return _encode(text, self.vocabulary)

    def decode(self, symbols: Tensor) -> str:
        """The text of symbols `(n_symbols,)`."""
        return "".join(self.vocabulary[symbol] for symbol in symbols.tolist())


def python_help(validation_share: float = 0.1) -> CharacterText:
    """What Python's `help()` knows about its topics: about 370,000 characters, which differ between its versions.

    The pages quote each other. Of equal paragraphs only the first is kept, because one that stood in both parts
    could be recited in the second instead of predicted.

    Args:
        validation_share: How much of the text is held out, from its end.

    Raises:
        ValueError: If the share does not lie between 0 and 1.
    """
    if not 0 < validation_share < 1:
        raise ValueError(f"validation_share must lie between 0 and 1, got {validation_share}")
    text = "\n\n".join(_different_paragraphs(topics[name] for name in sorted(topics)))
    vocabulary = "".join(sorted(set(text)))
    symbols = _encode(text, vocabulary)
    n_train = round((1 - validation_share) * len(symbols))
    return CharacterText(vocabulary, symbols[:n_train], symbols[n_train:])


def windows(symbols: Tensor, n_windows: int, length: int, generator: torch.Generator) -> Tensor:
    """Pieces of a text, cut out at random places.

    Args:
        symbols: The text, `(n_symbols,)`.
        n_windows: How many pieces.
        length: Symbols in each.
        generator: Source of randomness (on the CPU).

    Returns:
        Integers `(n_windows, length)`.

    Raises:
        ValueError: If the text is shorter than a piece.
    """
    if not 0 < length <= len(symbols):
        raise ValueError(f"length must lie in 1..{len(symbols)} (the text's), got {length}")
    start = torch.randint(len(symbols) - length + 1, (n_windows, 1), generator=generator)
    return symbols[start + torch.arange(length)]


def _different_paragraphs(pages) -> list[str]:
    """The paragraphs of all pages in order, without those that came before, were it with another indentation."""
    first = {}
    for page in pages:
        for paragraph in page.split("\n\n"):
            first.setdefault(" ".join(paragraph.split()), paragraph)
    return list(first.values())


def _encode(text: str, vocabulary: str) -> Tensor:
    symbol_of = {character: symbol for symbol, character in enumerate(vocabulary)}
    unknown = sorted(set(text) - set(symbol_of))
    if unknown:
        raise ValueError(f"text must be made of the vocabulary's characters, got {unknown}")
    return torch.tensor([symbol_of[character] for character in text], dtype=torch.long)
