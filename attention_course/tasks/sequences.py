"""Symbols in, symbols out: copy, reverse or sort, with the source of each target symbol known."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.support.renamed import renamed
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


@renamed(n_symbols="vocab_size")
def copying(n_examples: int, length: int, vocab_size: int, generator: torch.Generator) -> SequencePairs:
    """Sequences of random symbols; the target is the source.

    Args:
        n_examples: Size of the batch.
        length: Number of symbols in each sequence.
        vocab_size: Symbols are drawn uniformly from `0..vocab_size - 1`.
        generator: Source of randomness (on the CPU).
    """
    source = torch.randint(vocab_size, (n_examples, length), generator=generator)
    gold = torch.eye(length, dtype=torch.bool).expand(n_examples, length, length)
    return SequencePairs(source, source.clone(), gold)


@renamed(n_symbols="vocab_size")
def reversing(n_examples: int, length: int, vocab_size: int, generator: torch.Generator) -> SequencePairs:
    """Sequences of random symbols; the target is the source read backwards.

    Args:
        n_examples: Size of the batch.
        length: Number of symbols in each sequence.
        vocab_size: Symbols are drawn uniformly from `0..vocab_size - 1`.
        generator: Source of randomness (on the CPU).
    """
    pairs = copying(n_examples, length, vocab_size, generator)
    return SequencePairs(pairs.source, pairs.target.flip(1), pairs.gold.flip(1))


@renamed(n_symbols="vocab_size")
def sorting(n_examples: int, length: int, vocab_size: int, generator: torch.Generator) -> SequencePairs:
    """Random numbers; the target is the source in ascending order.

    Args:
        n_examples: Size of the batch.
        length: Number of numbers in each sequence.
        vocab_size: Numbers are drawn uniformly, with repetition, from `0..vocab_size - 1`.
        generator: Source of randomness (on the CPU).
    """
    source = torch.randint(vocab_size, (n_examples, length), generator=generator)
    target = source.sort(dim=1).values
    return SequencePairs(source, target, gold=target[:, :, None] == source[:, None, :])
