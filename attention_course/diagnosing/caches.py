"""Questions about memory: fed in pieces, does a text get what it gets whole? Does an earlier call change a later?"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import Knowledge
from attention_course.diagnosing.subject import Sizes, Subject
from attention_course.diagnosing.watching import watched

RESETS = ("reset", "reset_cache", "clear_cache")
FLAGS = ("use_cache", "cache", "cached", "return_cache", "return_present")
PLACES = ("start_pos", "offset", "position", "start", "input_pos", "pos")


class Pieces:
    """A way of feeding a text in pieces, a fresh one for each text."""

    def __init__(self, subject: Subject, options: dict[str, Any], past: str | None, flag: str | None):
        self.subject, self.options, self.past, self.flag = subject, dict(options), past, flag
        self.attention, self.kept, self.held = subject.fresh(), None, 0
        for name in RESETS:
            if past is None and hasattr(self.attention, name):
                getattr(self.attention, name)()

    def feed(self, piece: Tensor) -> Tensor:
        """The outputs of the next piece, `(batch, heads, n, d)`."""
        given = dict(self.options)
        if self.past is not None and self.kept is not None:
            given[self.past] = self.kept
        if self.flag is not None:
            given[self.flag] = True
        for name in self.subject.signature.all_names:
            if name in PLACES:
                given[name] = self.held
        result = self.subject.raw([piece] * 3, self.attention, **given)
        output = self.subject.output(result, [piece] * 3)
        if self.past is not None:
            self.kept = next(_present(result, output, self.subject), None)
        self.held += piece.size(2)
        return output


def _present(result: Any, output: Tensor, subject: Subject) -> Iterator[Any]:
    """What was returned beside the output."""
    if isinstance(result, dict):
        result = list(result.values())
    for part in reversed(result) if isinstance(result, tuple | list) else ():
        if part is not None and not (isinstance(part, Tensor) and part.shape == subject.layout.put(output).shape):
            yield part


def ways(subject: Subject) -> Iterator[tuple[str | None, str | None]]:
    """The argument that takes the past and the flag that asks for a cache, as far as there are any."""
    flags = [name for name in subject.signature.all_names if name in FLAGS]
    for past in (*subject.signature.past, None):
        yield past, None
        for flag in flags:
            if flag != past:
                yield past, flag


def in_pieces(subject: Subject, options: dict[str, Any], text: Tensor, cuts: list[int]) -> Callable | None:
    """The outputs of a text that is fed in pieces, or `None` where no way of feeding remembers anything."""
    alone = subject([text[:, :, cuts[-1] :].contiguous()] * 3, **options)
    for past, flag in ways(subject):
        if past is None and flag is None and not any(hasattr(subject.attention, name) for name in RESETS):
            continue
        pieces = Pieces(subject, options, past, flag)
        try:
            outputs, start = [], 0
            for end in [*cuts, text.size(2)]:
                outputs.append(pieces.feed(text[:, :, start:end].contiguous()))
                start = end
        except Exception:  # whatever somebody's code may raise
            continue
        output = torch.cat(outputs, 2)
        if subject.moved(output[:, :, -1:] - alone[:, :, -1:], alone).any():
            return output
    return None


@torch.no_grad()
def ask_cache(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does a cache change the result: of single steps, or of several new tokens at once?"""
    subject = known.subject
    if subject.kind != "self" or subject.numpy or sizes.n_queries < 4:
        return None
    options, text = known.causal_options, subject.draw(sizes)[0]
    whole = subject([text] * 3, **options)
    n = text.size(2)
    steps = in_pieces(subject, options, text, list(range(1, n)))
    # What is not causal cannot be fed in pieces: in a stack, what is cached would hear of tokens that come later.
    if steps is None or not (known.told.causal or known.hides_future()):
        return None
    known.cached = True
    if _differ(subject, steps, whole):
        if _restarts(subject, options, text):
            return Finding("positions_restart", "with a cache, a new token is turned as if it stood at the first place")
        share = (steps[:, :, -1] - whole[:, :, -1]).abs().max() / whole.abs().max()
        sentence = f"fed one by one, the last of {n} tokens gets another output, off by {share:.0%}"
        return Finding("cache", sentence + _rewrites(subject, options, text))
    causal = not subject.moved((whole - steps)[:, :, :-1], whole).any()
    chunks = in_pieces(subject, options, text, [n - 2])
    if causal and chunks is not None and subject.moved(chunks - whole, whole).any():
        before = f"with {n - 2} tokens in the cache, the first of two new ones"
        if _sees_next(subject, options, text):
            return Finding("cache", f"{before} sees the second: they come without a mask")
        return Finding("mask_corner", f"{before} gets another output: it does not see all that came before")
    return None


def _sees_next(subject: Subject, options: dict[str, Any], text: Tensor) -> bool:
    """Whether of two new tokens the first one's output moves with the second."""
    n, other = text.size(2), text.clone()
    other[:, :, -1] = -text[:, :, -1]
    fed = [in_pieces(subject, options, each, [n - 2]) for each in (text, other)]
    return bool(subject.moved((fed[1] - fed[0])[:, :, -2], fed[0]).any())


def _rewrites(subject: Subject, options: dict[str, Any], text: Tensor) -> str:
    """Whether a later step changes what the cache held already, in words."""
    for past, flag in ways(subject):
        pieces, held = Pieces(subject, options, past, flag), []
        try:
            for place in range(3):
                pieces.feed(text[:, :, place : place + 1].contiguous())
                held.append([tensor.clone() for tensor in subject.tensors(pieces.kept)])
        except Exception:  # whatever somebody's code may raise
            continue
        for old, new in zip(held[1], held[2], strict=False):
            grown = old.dim() == 4 and new.shape[:2] == old.shape[:2] and new.size(2) == old.size(2) + 1
            if grown and subject.moved(new[:, :, :-1] - old, old).any():
                return "; a step changes what the cache held before it"
    return ""


def _differ(subject, pieces, whole):
    """Whether the last output does; earlier ones differ, too, in a layer that is not causal."""
    return bool(subject.moved((pieces - whole)[:, :, -1], whole).any())


def _restarts(subject: Subject, options: dict[str, Any], text: Tensor) -> bool:
    """Whether the last query, fed alone after the others, is the one that it is at the first place."""
    n = text.size(2)
    last = text[:, :, -1:].contiguous()
    with watched(1, 1) as first:
        subject([last] * 3, **options)
    for past, flag in ways(subject):
        pieces = Pieces(subject, options, past, flag)
        try:
            pieces.feed(text[:, :, :-1].contiguous())
            with watched(1, n) as after:
                pieces.feed(last)
        except Exception:  # whatever somebody's code may raise
            continue
        with watched(n, n) as whole:
            subject([text] * 3, **options)
        if not (first.scores and after.scores and whole.scores):
            continue
        alone, now, expected = first.scores[-1][0], after.scores[-1][0], whole.scores[-1][0][..., -1:, :]
        if alone.numel() == now.numel() == expected.numel():
            same = [subject.moved(now.flatten() - each.flatten(), each).any() for each in (alone, expected)]
            return not same[0] and bool(same[1])
    return False


@torch.no_grad()
def ask_remembers(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does an earlier call with another length change a later one, where nothing speaks of a cache?"""
    subject = known.subject
    said = " ".join([*subject.signature.all_names, *dir(subject.attention)]).lower()
    if not isinstance(subject.attention, nn.Module) or "cache" in said or "past" in said or "reset" in said:
        return None
    tokens = subject.draw(sizes)
    expected = subject(tokens)
    longer = sizes._replace(n_queries=sizes.n_queries + 3, n_keys=sizes.n_keys + 3)
    for other in (longer, sizes._replace(n_queries=2, n_keys=2)):
        attention = subject.fresh()
        try:
            subject(subject.draw(other), attention)
        except Exception:  # whatever somebody's code may raise, as where its context is shorter
            continue
        try:
            after = subject(tokens, attention)
        except Exception as error:  # whatever somebody's code may raise
            told = f"{type(error).__name__}: {str(error)[:150]}"
            return Finding("remembers", f"after a call with {other.n_queries} tokens, {sizes.n_queries} raise {told}")
        if subject.moved(after - expected, expected).any():
            told = f"a call with {other.n_queries} tokens changes what {sizes.n_queries} get later"
            return Finding("remembers", told)
    return None
