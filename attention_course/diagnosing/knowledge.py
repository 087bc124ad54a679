"""What is found out about an attention before it is asked what is wrong with it."""

import re
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attention_course.diagnosing.calling import find_subject
from attention_course.diagnosing.masks import Tried, influence, read_mask
from attention_course.diagnosing.subject import USUAL, Sizes, Subject
from attention_course.diagnosing.watching import watched

UNMASKED = "without a mask"
SMALL = 0.1  # a tenth of a token makes a hundredth of a score


@dataclass
class Told:
    """What somebody said of the attention; `None` where nothing was said."""

    mask_means: str | None = None
    causal: bool | None = None
    scale: str | float | None = None
    layout: str | None = None


@dataclass
class Knowledge:
    """The subject, what was told, and what the first calls have shown.

    Attributes:
        masks: For each mask argument the form that works, or `None`.
        ran: For each mask argument all forms that raised no error.
        own: In a layer of two sequences, the forms of the masks that hide tokens of the first from each other.
        cached: Whether it was fed in pieces, and remembered them rightly.
        causal_options: The argument that makes it causal, if one does.
        ignored: An argument that says so, is taken, and changes nothing.
    """

    subject: Subject
    told: Told
    masks: dict[str, Tried | None] = field(default_factory=dict)
    ran: dict[str, list[Tried]] = field(default_factory=dict)
    own: dict[str, Tried] = field(default_factory=dict)
    cached: bool = False
    causal_options: dict[str, Any] = field(default_factory=dict)
    ignored: str | None = None

    def options(self, sizes: Sizes) -> dict[str, dict[str, Any]]:
        """The calls that are known to work, by name, for inputs of these sizes."""
        known = {UNMASKED: {}}
        if self.causal_options:
            known["causal"] = self.causal_options
        for argument, tried in self.masks.items():
            if tried is not None:
                form = tried.form
                known[f"with {argument}"] = form.build(form.pattern(self.subject, sizes), self.subject.dtype)
        return known

    def hides_future(self) -> bool:
        """Whether, with the argument that makes it causal if one does, no later token has a say."""
        square = Sizes(USUAL.batch, USUAL.n_queries, USUAL.n_queries)
        return not bool(influence(self.subject, square, **self.causal_options).triu(1).any())


def learn(subject: Subject, told: Told) -> Knowledge:
    """Find out who has a say without a mask, and how each mask argument wants to be given."""
    subject = _seen_by_most(subject)
    known, plain = Knowledge(subject, told), influence(subject, USUAL)
    for argument in subject.signature.causal:
        moves = _moves(subject, {argument: True})
        if moves and ("causal" in argument.lower() or _hides_later(subject, {argument: True})):
            known.causal_options = {argument: True}
        elif moves is False and re.fullmatch("(is_|use_)?causal", argument) and not known.hides_future():
            known.ignored = argument
    own = _own_masks(subject)
    for argument in subject.signature.masks:
        if argument in own:
            known.own[argument] = own[argument]
            continue
        known.masks[argument], known.ran[argument] = read_mask(subject, argument, USUAL, plain)
        if known.masks[argument] is None and not subject.equal:
            square = Sizes(USUAL.batch, USUAL.n_queries, USUAL.n_queries)
            known.masks[argument], more = read_mask(subject, argument, square, influence(subject, square))
            known.ran[argument] += more
    return known


def _seen_by_most(subject: Subject) -> Subject:
    """With small tokens, where so some have a say that had none: sharp weights may be lost to rounding."""
    small = subject.sized(SMALL)
    now, then = influence(subject, USUAL), influence(small, USUAL)
    return small if (then & ~now).any() and not (now & ~then).any() else subject


class _BesideAnother(torch.nn.Module):
    """A layer of two sequences, as a layer of the first."""

    def __init__(self, subject: Subject):
        super().__init__()
        self.attention, (_, other, _) = subject.fresh(), subject.draw(USUAL)
        self.register_buffer("other", subject.layout.put(other))

    def forward(self, x: Tensor, **options: Any) -> Any:
        """What the layer returns."""
        return self.attention(x, self.other[: len(x)], **options)


def _own_masks(subject: Subject) -> dict[str, Tried]:
    """The masks of a layer of two sequences that are about the first alone."""
    found: dict[str, Tried] = {}
    if subject.kind != "cross" or subject.numpy or subject.single:
        return found
    try:
        own = find_subject(_BesideAnother(subject), subject.layout.name)
        plain = influence(own, USUAL)
    except Exception:  # whatever somebody's code may raise
        return found
    if not plain[:, 0, -1].any():
        return found
    for argument in subject.signature.masks:
        works, _ = read_mask(own, argument, USUAL, plain)
        if works is not None:
            found[argument] = works
    return found


@torch.no_grad()
def _moves(subject, options):
    """Whether an option changes an output; `None` where it is not taken."""
    square = Sizes(USUAL.batch, USUAL.n_queries, USUAL.n_queries)
    tokens = subject.draw(square)
    try:
        before, after = subject(tokens), subject(tokens, **options)
    except Exception:  # whatever somebody's code may raise
        return None
    return bool(subject.moved(after - before, before).any())


def _hides_later(subject, options):
    """Whether an option hides later tokens more than earlier ones: a mask that is asked for may be about others."""
    square = Sizes(USUAL.batch, USUAL.n_queries, USUAL.n_queries)
    hidden = ~influence(subject, square, **options)
    return bool(hidden.triu(1).sum() > hidden.tril(-1).sum())


@torch.no_grad()
def weights_of(subject: Subject, sizes: Sizes, **options: Any) -> Tensor | None:
    """The weights with which values are blended, `(batch, heads, n_queries, n_keys)`, where they can be seen.

    Of a function they are its output for the identity as values, for another number of keys. Of a module they are
    watched.
    """
    if subject.blends:
        # As many keys as numbers in a value, and not as many as in a key: what takes one for the other shows.
        n_keys = 2 * subject.width
        tokens = subject.draw(Sizes(sizes.batch, n_keys if subject.equal else sizes.n_queries, n_keys))
        identity = torch.eye(n_keys, dtype=subject.dtype)
        tokens[2] = identity.expand(*tokens[1].shape[:3], n_keys).contiguous()
        return subject(tokens, **options)
    if subject.numpy:
        return None
    tokens = subject.draw(sizes)
    n_queries, n_keys = tokens[0].size(2), tokens[1].size(2)
    with watched(n_queries, n_keys) as watch:
        subject.raw(tokens, **options)
    seen = [left for left, _ in watch.blends if left[..., 0, 0].numel() % len(tokens[0]) == 0]
    return seen[-1].reshape(len(tokens[0]), -1, n_queries, n_keys) if seen else None
