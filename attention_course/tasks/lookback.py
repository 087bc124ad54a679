"""Random symbols, each to be answered with the one that stood a fixed number of places before it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.support.renamed import renamed
from attention_course.tasks.batch import Batch

NOTHING = -100  # the target that PyTorch's cross-entropy leaves out


@dataclass
class Lookbacks(Batch):
    """A batch of sequences, what to answer at each place, and where the answer stands.

    Attributes:
        symbols: Integers `(batch, length)`. Where there is a start symbol, it is `vocab_size` and stands first.
        target: Integers `(batch, length)`: the symbol `distance` places before, or `NOTHING` where that is the
            start symbol or lies before the first one.
        gold: Boolean `(length, length)`, one for all sequences: `True` where column j is the place that row i answers
            from.
    """

    symbols: Tensor
    target: Tensor
    gold: Tensor

    def __getitem__(self, rows) -> "Lookbacks":
        """Some of the sequences: a slice, a mask, or a tensor of indices."""
        return Lookbacks(self.symbols[rows], self.target[rows], self.gold)


@renamed(n_symbols="vocab_size")
def looking_back(
    n_examples: int,
    length: int,
    vocab_size: int,
    distance: int,
    generator: torch.Generator,
    *,
    start_symbol: bool = True,
) -> Lookbacks:
    """Random symbols; each place asks which symbol stood `distance` places before.

    The symbols say nothing about each other, so only the order can answer: guessing is right one time in
    `vocab_size`.

    Args:
        n_examples: Size of the batch.
        length: Number of symbols in each sequence, the start symbol included.
        vocab_size: Symbols are drawn uniformly from `0..vocab_size - 1`.
        distance: How many places to look back.
        generator: Source of randomness (on the CPU).
        start_symbol: Whether each sequence opens with a symbol of its own, `vocab_size`. It gives a model that
            is not told positions something to count from.

    Raises:
        ValueError: If no place has an answer: `distance` must leave one.
    """
    first = int(start_symbol)
    if not 0 <= distance < length - first:
        raise ValueError(f"distance must lie in 0..{length - first - 1} for length {length}, got {distance}")
    symbols = torch.randint(vocab_size, (n_examples, length), generator=generator)
    symbols[:, :first] = vocab_size
    target = torch.full_like(symbols, NOTHING)
    target[:, first + distance :] = symbols[:, first : length - distance]
    place = torch.arange(length)
    gold = (place[:, None] - place == distance) & (place >= first)
    return Lookbacks(symbols, target, gold)
