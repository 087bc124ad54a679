"""What a mask argument takes: every shape and every meaning in use is tried, and the one that hides is told."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_course.diagnosing.subject import Sizes, Subject

SHAPES = {  # what is cut out of (batch, n_queries, n_keys)
    "(n_queries, n_keys)": lambda may: may[0],
    "(batch, n_keys)": lambda may: may[:, 0],
    "(batch, n_queries, n_keys)": lambda may: may,
    "(batch, 1, n_keys)": lambda may: may[:, :1],
    "(batch, 1, 1, n_keys)": lambda may: may[:, None, :1],
    "(batch, 1, n_queries, n_keys)": lambda may: may[:, None],
    "(n_keys,)": lambda may: may[0, 0],
}
MEANINGS = {
    "a boolean mask in which True attends": lambda may, dtype: may,
    "a boolean mask in which True hides": lambda may, dtype: ~may,
    "a mask of 1 (attends) and 0": lambda may, dtype: may.to(dtype),
    "a mask of 1 (hides) and 0": lambda may, dtype: (~may).to(dtype),
    "a mask that is added, 0 or minus infinity": lambda may, dtype: torch.zeros(may.shape, dtype=dtype).masked_fill(
        ~may, -torch.inf
    ),
    "a mask of whole numbers, 1 (attends) and 0": lambda may, dtype: may.long(),
    "a mask of whole numbers, 1 (hides) and 0": lambda may, dtype: (~may).long(),
}


CHANGED = {"self": (0,), "cross": (1,), "triple": (1, 2)}  # of query, key and value, where a token changes


class Form(NamedTuple):
    """A shape and a meaning that a mask argument may have."""

    argument: str
    shape: str
    meaning: str

    def build(self, may: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
        """The argument for a mask given as `(batch, n_queries, n_keys)`, `True` = may attend."""
        return {self.argument: MEANINGS[self.meaning](SHAPES[self.shape](may), dtype)}

    @property
    def hides(self) -> bool:
        """Whether True, or 1, means hidden."""
        return "hides" in self.meaning

    @property
    def by_query(self) -> bool:
        """Whether queries can be shown different keys."""
        return "n_queries" in self.shape

    @property
    def by_sequence(self) -> bool:
        """Whether the sequences of a batch can be shown different keys."""
        return "batch" in self.shape

    def pattern(self, subject: Subject, sizes: Sizes) -> Tensor:
        """Something to hide, `(batch, n_queries, n_keys)`: as different as the shape allows, and no row empty.

        In a sequence that asks itself, tokens have ranks, and see no higher ones: then what is hidden from a token does
        not come to it through a third one, in a second layer.
        """
        tokens = subject.draw(sizes)
        batch, n_queries, n_keys = len(tokens[0]), tokens[0].size(2), tokens[1].size(2)
        places = [torch.arange(n) for n in (batch, n_queries, n_keys)]
        one, query, key = torch.meshgrid(*places, indexing="ij")
        if subject.kind == "self" and self.by_query:
            rank = [(each + one * self.by_sequence) % 3 for each in (2 * query, 2 * key)]
            return rank[1] <= rank[0]
        shift = one * self.by_sequence + query * self.by_query
        may = (key + 2 * shift) % 3 != 1
        may[..., 0] = True  # with a causal mask, too, every query sees a key
        if self.by_query and n_queries > 1:
            may[:, -1, 0], may[:, -1, 1] = False, True
        return may


def forms(argument: str) -> list[Form]:
    """The forms of a mask argument, likeliest first."""
    shapes = sorted(SHAPES, key=lambda shape: ("pad" in argument) != (shape == "(batch, n_keys)"))
    meanings = list(MEANINGS)
    if "bias" in argument:
        meanings = [meaning for meaning in meanings if "added" in meaning]
    return [Form(argument, shape, meaning) for meaning in meanings for shape in shapes]


@torch.no_grad()
def influence(subject: Subject, sizes: Sizes, **options: Any) -> Tensor:
    """Which keys have a say: `(batch, n_queries, n_keys)`, whether another token at a place moves an output."""
    tokens, other = subject.draw(sizes), subject.draw(sizes, seed=1)
    before = subject(tokens, **options)
    found = []
    for place in range(tokens[1].size(2)):
        changed = [tensor.clone() for tensor in tokens]
        for index in CHANGED[subject.kind]:
            changed[index][:, :, place] = other[index][:, :, place]
        moved = subject.moved(subject(changed, **options) - before, before)
        found.append(moved.any(3).any(1))
    return torch.stack(found, -1)


def is_band(table: Tensor) -> bool:
    """Whether it is the distance that decides who has a say: what keeps its largest scores alone is no mask."""
    n = len(table)
    diagonals = [table.diagonal(offset) for offset in range(1 - n, n)]
    return all(diagonal.all() or not diagonal.any() for diagonal in diagonals)


def compared(subject: Subject, form: Form, may: Tensor) -> Tensor:
    """The pairs of which a mask decides, `(batch, n_queries, n_keys)`.

    Left out are those in which a token would ask itself, if it can, and, of a mask that hides tokens from all others,
    what a hidden token itself sees: nobody is to read that.
    """
    pairs = torch.ones_like(may)
    if subject.kind == "self":
        pairs &= ~torch.eye(may.size(1), dtype=torch.bool)
    if not form.by_query and may.size(1) == may.size(2):
        pairs &= may.mT
    return pairs


@dataclass(frozen=True)
class Tried:
    """What became of one form.

    Attributes:
        plain: Who has a say without it.
        influence: Who has a say under it.
        compared: The pairs of which it decides.
        moved: Whether any output is another one than without it.
        right: Whether what it hides has no say, and all else has.
        replaces: Whether all else has a say that had none without a mask: the layer's own causal mask is gone.
    """

    form: Form
    may: Tensor
    plain: Tensor
    influence: Tensor
    compared: Tensor
    moved: bool
    right: bool
    replaces: bool


def try_form(subject: Subject, form: Form, sizes: Sizes, plain: Tensor) -> Tried | None:
    """Hide some keys in this form; `None` where it raises an error."""
    may = form.pattern(subject, sizes)
    tokens = subject.draw(sizes)
    options = form.build(may, subject.dtype)
    try:
        after, before = subject(tokens, **options), subject(tokens)
        found = influence(subject, sizes, **options)
    except Exception:  # whatever somebody's code may raise
        return None
    pairs = compared(subject, form, may)
    right = bool((found == (plain & may))[pairs].all())
    replaces = bool((found == may)[pairs].all()) and not right
    moved = bool(subject.moved(after - before, before).any())
    return Tried(form, may, plain, found, pairs, moved, right or replaces, replaces)


def read_mask(subject: Subject, argument: str, sizes: Sizes, plain: Tensor) -> tuple[Tried | None, list[Tried]]:
    """The form that works, if any does, and all that ran.

    Args:
        plain: The influence without a mask.
    """
    ran = []
    for form in forms(argument):
        tried = try_form(subject, form, sizes, plain)
        if tried is not None:
            ran.append(tried)
            if tried.right and tried.moved:
                return tried, ran
    return None, ran
