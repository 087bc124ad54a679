"""The texts that real models are measured on: pieces of Python's help pages, and sentences from frames."""

import torch
from torch import Tensor

from attention_course import tasks

N_CHOSEN_ON, N_MEASURED = 20, 100


def pieces(encode, length: int) -> tuple[Tensor, Tensor]:
    """Pieces of the help pages that come with Python, spread over all of them, none overlapping another.

    Args:
        encode: From a text to its symbols, without any that stand for its beginning or end.
        length: Symbols in a piece.

    Returns:
        20 pieces to choose heads on and 100 to measure, integers `(20, length)` and `(100, length)`.
    """
    text = tasks.python_help()
    symbols = torch.tensor(encode(text.decode(torch.cat([text.train, text.validation]))))
    cut = symbols[: len(symbols) // length * length].view(-1, length)
    spread = torch.linspace(0, len(cut) - 1, N_CHOSEN_ON + N_MEASURED).round().long()
    order = torch.randperm(len(spread), generator=generator(0))
    return cut[spread[order]].split([N_CHOSEN_ON, N_MEASURED])


def generator(seed: int) -> torch.Generator:
    """A source of random numbers."""
    return torch.Generator().manual_seed(seed)


def shuffled(symbols: Tensor, seed: int = 0) -> Tensor:
    """The same symbols of each text, in an order of its own."""
    order = torch.rand(symbols.shape, generator=generator(seed)).argsort(-1)
    return symbols.gather(-1, order)


def ordinary(n: int, seed: int) -> Tensor:
    """Symbols drawn from SmolLM2's vocabulary without its first thousand and its rarest, integers `(n,)`."""
    return torch.randint(1_000, 40_000, (n,), generator=generator(seed))
