"""Symbols in, symbols out: copy, reverse or sort, with the source of each target symbol known."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch


@dataclass
class SequencePairs(Batch):
    """A batch of source sequences, their targets, and which source token explains each target token.

    Attributes:
        source: Symbols, integers `(batch, n_source)`.
        target: Symbols, integers `(batch, n_target)`.
        gold: Boolean `(batch, n_target, n_source)`: `True` where the source token is one that the
            target token was made from. Equal source tokens are interchangeable, so a row of
            `gold` can have more than one `True`.
    """

    source: Tensor
    target: Tensor
    gold: Tensor


def copying(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> SequencePairs:
    """Sequences of random symbols; the target is the source.

    Args:
        n_examples: Size of the batch.
        length: Number of symbols in each sequence.
        n_symbols: Symbols are drawn uniformly from `0..n_symbols - 1`.
        generator: Source of randomness (on the CPU).
    """
    source = torch.randint(n_symbols, (n_examples, length), generator=generator)
    gold = torch.eye(length, dtype=torch.bool).expand(n_examples, length, length)
    return SequencePairs(source, source.clone(), gold)


def reversing(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> SequencePairs:
    """Sequences of random symbols; the target is the source read backwards.

    Args:
        n_examples: Size of the batch.
        length: Number of symbols in each sequence.
        n_symbols: Symbols are drawn uniformly from `0..n_symbols - 1`.
        generator: Source of randomness (on the CPU).
    """
    pairs = copying(n_examples, length, n_symbols, generator)
    return SequencePairs(pairs.source, pairs.target.flip(1), pairs.gold.flip(1))


def sorting(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> SequencePairs:
    """Random numbers; the target is the source in ascending order.

    Args:
        n_examples: Size of the batch.
        length: Number of numbers in each sequence.
        n_symbols: Numbers are drawn uniformly, with repetition, from `0..n_symbols - 1`.
        generator: Source of randomness (on the CPU).
    """
    source = torch.randint(n_symbols, (n_examples, length), generator=generator)
    target = source.sort(dim=1).values
    return SequencePairs(source, target, gold=target[:, :, None] == source[:, None, :])
