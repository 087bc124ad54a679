"""People whose letters change: what counts is the newest one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch


@dataclass
class ChangingLetters(Batch):
    """A batch of lists of pairs, in order of time: half of the names come once, the others again and again.

    Attributes:
        name: Integers `(batch, n_pairs)`.
        letter: The letter that the name has from this pair on: integers `(batch, n_pairs)`.
        asked: All names, each once: integers `(batch, n_names)`.
        target: The newest letter of each: integers `(batch, n_names)`.
        changed: Boolean `(batch, n_names)`: `True` for names that have had other letters before.
    """

    name: Tensor
    letter: Tensor
    asked: Tensor
    target: Tensor
    changed: Tensor


def changing_letters(
    n_examples: int, n_names: int, n_letters: int, n_times: int, generator: torch.Generator
) -> ChangingLetters:
    """Lists in random order, in which half of the names have one letter and the others `n_times`, none of them twice.

    Which names change is drawn anew for each list, and so are the letters.

    Args:
        n_examples: Size of the batch.
        n_names: An even number of names, `0..n_names - 1`.
        n_letters: Letters are drawn from `0..n_letters - 1`.
        n_times: How many letters a name has that changes.
        generator: Source of randomness (on the CPU).

    Raises:
        ValueError: If the names are not an even number, or the letters of a name too few or too many.
    """
    if n_names < 2 or n_names % 2:
        raise ValueError(f"n_names must be even and at least 2, got {n_names}")
    if not 2 <= n_times <= n_letters:
        raise ValueError(f"n_times must lie in 2..{n_letters} (n_letters), got {n_times}")
    changing, others = _shuffled(n_examples, n_names, generator=generator).chunk(2, dim=1)
    letters = _shuffled(n_examples, n_names // 2, n_letters, generator=generator)[..., :n_times].flatten(1)
    once = torch.randint(n_letters, others.shape, generator=generator)
    name = torch.cat([changing.repeat_interleave(n_times, dim=1), others], dim=1)  # (n_examples, n_pairs)
    order = _shuffled(n_examples, name.size(1), generator=generator)
    name, letter = name.gather(1, order), torch.cat([letters, once], dim=1).gather(1, order)
    asked = _shuffled(n_examples, n_names, generator=generator)
    is_asked = asked.unsqueeze(2) == name.unsqueeze(1)  # (n_examples, n_names, n_pairs)
    newest = (is_asked * torch.arange(name.size(1))).argmax(-1)
    return ChangingLetters(name, letter, asked, letter.gather(1, newest), is_asked.sum(-1) > 1)


def _shuffled(*shape: int, generator: torch.Generator) -> Tensor:
    """`0..n - 1` in random order in the last dimension, which has n."""
    return torch.rand(shape, generator=generator).argsort(-1)
