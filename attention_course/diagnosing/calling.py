"""How an attention wants to be called, found out by trying."""

from collections.abc import Callable, Iterator

import torch
from torch import nn

from attention_course.diagnosing.examine import copied
from attention_course.diagnosing.layouts import LAYOUTS
from attention_course.diagnosing.modules import stirred
from attention_course.diagnosing.signature import Signature, build, read_signature, widths
from attention_course.diagnosing.subject import USUAL, Subject, Way


def find_subject(attention: Callable, layout: str | None = None) -> Subject:
    """An attention with a way of calling it, in float64 where it can be called so.

    Args:
        attention: A function, a module, or a class of modules, which is made with numbers chosen by their names.
        layout: The name of a layout; all are tried where it is left out.

    Raises:
        ValueError: If no way was found, with what was tried, or there is no such layout.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # so that two reports of one class can be compared
        attention = build(attention) if isinstance(attention, type) else attention
    if isinstance(attention, nn.Module):
        attention = stirred(copied(attention).cpu().float().eval())
    signature = read_signature(attention)
    if signature.unknown:
        raise ValueError(
            f"attention: what to give for {', '.join(signature.unknown)} cannot be told: pass a function that "
            "gives it and takes the tokens alone"
        )
    if not 1 <= len(signature.tokens) <= 3:
        raise ValueError(
            "attention: expected a call with one sequence, with two, or with query, key and value, got the "
            f"arguments {signature.all_names}"
        )
    return _in_its_dtype(_first_that_runs(attention, signature, _layouts(signature, layout)))


def _layouts(signature, wanted):
    """The layouts to try, in order."""
    named = [layout for layout in LAYOUTS if wanted is None or layout.name == wanted]
    if wanted is None and signature.numbers:  # it cuts the heads itself
        named = [layout for layout in named if not layout.heads]
    if len(signature.tokens) < 3:  # its projections may take any leading dimensions, and it still means (batch, n, d)
        named.sort(key=lambda layout: layout.heads)
    if not named:
        raise ValueError(f"layout must be one of {[layout.name for layout in LAYOUTS]}, got {wanted!r}")
    return named


def _first_that_runs(attention, signature, layouts):
    """The first way in which it runs and no sequence or head has a say in another; else the first in which it runs."""
    ran, said = [], []
    for way in _ways(attention, signature, layouts):
        if way.layout.name == "(n, d)" and any(each.layout.name == "(batch, n, d)" for each in ran):
            continue  # it takes a batch, and mixes it
        subject = Subject(attention, signature, way)
        try:
            if subject(subject.draw(USUAL)).isfinite().all() and subject.mixed() is None:
                return subject
            ran.append(subject)
        except Exception as error:  # whatever somebody's code may raise
            said.append(f"{way.layout.name}, width {way.width}: {type(error).__name__}: {error}")
    if not ran:
        raise ValueError(f"attention: no way of calling it was found; the first one failed as {said[0]}"[:400])
    return ran[0]


def _ways(attention, signature, layouts) -> Iterator[Way]:
    module, alone = isinstance(attention, nn.Module), len(signature.tokens) == 1
    for single in (False,) if alone else (False, True):
        for layout in layouts:
            if single and layout.name != "(batch, n, d)":
                continue
            for width in widths(attention)[:6]:
                for numpy in (False,) if module else (False, True):
                    for equal in (True,) if alone else (False,) if single else (False, True):
                        for base in _bases(signature, equal):
                            yield Way(layout, width, numpy, equal, single, base)


def _bases(signature: Signature, equal: bool):
    """What to give for a mask that must be given, where nothing is to be hidden."""
    yield {}
    if signature.needs_mask:
        shape = (USUAL.n_queries, USUAL.n_queries if equal else USUAL.n_keys)
        for mask in (torch.ones(shape).bool(), torch.zeros(shape)):
            yield dict.fromkeys(signature.masks, mask)


def _in_its_dtype(subject):
    if not subject.numpy:
        for dtype in (torch.float64, torch.float32):
            other = subject.at(dtype)
            try:
                if other(other.draw(USUAL)).dtype == dtype:
                    return other
            except Exception:  # a float32 mask or buffer, say
                continue
    return subject
