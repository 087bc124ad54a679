"""Two coins among ten other things: do they show the same face? The label depends on the coins and on nothing else."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch

FACES = ("crown", "ship")
THINGS = (
    *("bead", "bell", "bolt", "clip", "comb", "cork", "dice", "fork", "key", "lamp"),
    *("mug", "nail", "pen", "ring", "shell", "spoon", "stamp", "tape", "thimble", "yarn"),
)
QUESTION = "?"
VOCABULARY = (*FACES, *THINGS, QUESTION)
N_TOKENS = 13  # twelve things, and the question


@dataclass
class Drawers(Batch):
    """A batch of drawers, each a sequence of words.

    Attributes:
        tokens: Indices into `VOCABULARY`, integers `(batch, N_TOKENS)`. The last is always the question.
        same: Whether both coins show the same face, boolean `(batch,)`.
        gold: Boolean `(batch, N_TOKENS)`: `True` at the two coins, which alone decide.
    """

    tokens: Tensor
    same: Tensor
    gold: Tensor

    def words(self, row: int) -> list[str]:
        """One drawer as text, a word a token."""
        return [VOCABULARY[token] for token in self.tokens[row].tolist()]


def two_coins(n_drawers: int, generator: torch.Generator) -> Drawers:
    """Draw drawers such as "key, crown, pen, cork, ..., ship, ring, ?".

    Things, the places of the coins and their faces are drawn uniformly and independently of each other. To turn either
    coin over changes the label, always; to exchange one thing for another never does.

    Args:
        n_drawers: Size of the batch.
        generator: Source of randomness (on the CPU).
    """
    n_things = N_TOKENS - 1
    tokens = torch.randint(len(FACES), len(FACES) + len(THINGS), (n_drawers, N_TOKENS), generator=generator)
    tokens[:, -1] = VOCABULARY.index(QUESTION)
    places = torch.rand(n_drawers, n_things, generator=generator).argsort(1)[:, :2]
    faces = torch.randint(len(FACES), (n_drawers, 2), generator=generator)
    tokens.scatter_(1, places, faces)
    gold = torch.zeros(n_drawers, N_TOKENS, dtype=torch.bool).scatter_(1, places, True)
    return Drawers(tokens, faces[:, 0] == faces[:, 1], gold)
