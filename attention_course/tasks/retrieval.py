"""People who ask about others by name: one look per question, with the gold place of each known."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch


@dataclass
class RelatedLetters(Batch):
    """A batch of groups of people. Each person has a name, holds a letter and asks about others by their names.

    Attributes:
        name: Integers `(batch, n_people)`, different within a group.
        letter: Integers `(batch, n_people)`.
        asked: Names of the people asked about, one a relation: integers `(batch, n_people, n_relations)`.
        target: The letters they hold: integers `(batch, n_people, n_relations)`.
        gold: Boolean `(batch, n_relations, n_people, n_people)`: `True` where the column is the person that
            the row asks about, exactly one a row.
    """

    name: Tensor
    letter: Tensor
    asked: Tensor
    target: Tensor
    gold: Tensor


def related_letters(
    n_examples: int,
    n_people: int,
    n_names: int,
    n_letters: int,
    n_relations: int,
    generator: torch.Generator,
) -> RelatedLetters:
    """Groups of people in random order; each must report the letters that related people hold.

    Whom a person is related to is drawn anew for each group, uniformly from the others, a different one for
    each relation. Letters are independent of everything else, so an answer that was not looked up is a guess.

    Args:
        n_examples: Size of the batch.
        n_people: Number of people in a group.
        n_names: Names are drawn from `0..n_names - 1`, none twice in a group.
        n_letters: Letters are drawn uniformly from `0..n_letters - 1`, with repetition.
        n_relations: How many people each person asks about.
        generator: Source of randomness (on the CPU).

    Raises:
        ValueError: If there are fewer names than people, or not enough others to ask about.
    """
    if n_names < n_people:
        raise ValueError(f"n_names must be at least n_people = {n_people}, got {n_names}")
    if not 1 <= n_relations < n_people:
        raise ValueError(f"n_relations must lie in 1..{n_people - 1} (n_people - 1), got {n_relations}")
    name = torch.rand(n_examples, n_names, generator=generator).argsort(1)[:, :n_people]
    letter = torch.randint(n_letters, (n_examples, n_people), generator=generator)
    order = torch.rand(n_examples, n_people, n_people, generator=generator)
    order.diagonal(dim1=1, dim2=2).fill_(2.0)  # oneself comes last, so is never asked about
    place = order.argsort(-1)[:, :, :n_relations]  # (n_examples, n_people, n_relations)
    asked, target = (_at(table, place) for table in (name, letter))
    gold = place.transpose(1, 2).unsqueeze(-1) == torch.arange(n_people)
    return RelatedLetters(name, letter, asked, target, gold)


def _at(table: Tensor, place: Tensor) -> Tensor:
    """The entries of `table` `(batch, n_people)` at each person's places."""
    return table.unsqueeze(1).expand(-1, table.size(1), -1).gather(-1, place)
