"""Questions about weights and heads: each returns what is wrong, or `None`."""

from itertools import cycle
from typing import Any

import torch
from torch import Tensor

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import UNMASKED, Knowledge, weights_of
from attention_course.diagnosing.masks import influence, is_band
from attention_course.diagnosing.subject import Sizes, Subject
from attention_course.diagnosing.watching import watched

AXES = {
    (2,): "queries",
    (1,): "heads",
    (0,): "sequences of the batch",
    (2, 3): "queries and keys",
    (1, 3): "heads and keys",
    (0, 3): "sequences and keys",
}
MEANT = " (if it is meant so, as with a sink or a sigmoid, nothing is wrong)"
OFF = 1e-3  # of a sum that should be 1: no rounding comes near


@torch.no_grad()
def ask_dropout(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Do two passes in evaluation mode differ by chance?"""
    subject, tokens = known.subject, known.subject.draw(sizes)
    before, after = (subject(tokens, seed=seed) for seed in (0, 1))
    if not subject.moved(after - before, before).any():
        return None
    share = (after - before).abs().max() / before.abs().max()
    return Finding("dropout_in_eval", f"two passes over one input in evaluation mode differ by {share:.0%}")


def ask_batch(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Do the sequences of a batch, or the heads, have a say in each other?"""
    if sizes.batch < 2:
        return None
    subject, mixed = known.subject, known.subject.mixed()
    if mixed is not None:
        return Finding("batch_mixes", f"in {subject.layout.name}, the {mixed} have a say in each other")
    if subject.layout.name == "(n, batch, d)" and not known.told.layout:
        sentence = "tokens come first: given (batch, n, d), it takes sequences for tokens, and they mix"
        return Finding("batch_mixes", sentence, note=True)
    return None


def ask_lengths(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does it refuse another number of keys than of queries?"""
    if known.subject.kind == "self" or not known.subject.equal:
        return None
    return Finding("unequal_lengths", "it takes as many queries as keys only: no second sequence, no cache", note=True)


def ask_weights(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Do rows of weights sum to 1? If not, does another axis?"""
    subject = known.subject
    mixed = subject.mixed() == "sequences"  # then a row is not what it seems
    shown = sizes._replace(n_keys=2 * subject.width) if subject.blends else sizes
    shown = shown._replace(n_queries=shown.n_keys) if subject.blends and subject.equal else shown
    for name, options in {**known.options(shown), **_odd_options(known, shown)}.items():
        weights = _weights_or_none(subject, sizes, options)
        if weights is None or not weights.isfinite().all():
            continue
        sums = weights.sum(-1)
        off = ((sums - 1).abs() > OFF) & (weights != 0).any(-1)  # a query that sees nothing gets zeros
        if not off.any():
            continue
        alike = sums.amax() - sums.amin() < OFF  # then it is by chance that sums over another axis are 1, too
        for dims, axis in () if alike else AXES.items():
            if weights.size(dims[0]) > 1 and ((weights.sum(dims) - 1).abs() < OFF).all():
                sentence = f"weights sum to 1 over the {axis}, and a row over the keys to {sums[off][0]:.2f}"
                return Finding("softmax_axis", sentence)
        if not mixed and _sums_matter(subject, sizes, options):
            sentence = f"{name}, a row of weights sums to {sums[off][0]:.2f}"
            # Where no mask is given and even the row that sees all keys does not sum to 1, it may be meant.
            meant = name == UNMASKED and bool(off[..., -1].any())
            return Finding("rows_do_not_sum_to_1", sentence + MEANT * meant, note=meant)
    return None if mixed else _ask_constant_values(known, sizes)


def _weights_or_none(subject, sizes, options):
    try:
        return weights_of(subject, sizes, **options)
    except Exception:  # whatever somebody's code may raise
        return None


def _odd_options(known: Knowledge, sizes: Sizes) -> dict[str, dict[str, Any]]:
    """Calls with masks that ran and hide in no form: their rows must sum to 1 all the same."""
    subject, found = known.subject, {}
    for argument, ran in known.ran.items():
        if known.masks[argument] is None:
            for tried in ran:
                if tried.moved and "added" not in tried.form.meaning:
                    may = tried.form.pattern(subject, sizes)
                    found[f"with {argument} as {tried.form.meaning}"] = tried.form.build(may, subject.dtype)
    return found


@torch.no_grad()
def _sums_matter(subject: Subject, sizes: Sizes, options: dict[str, Any]) -> bool:
    """Whether copies of one token are answered differently: a division may follow that was not watched."""
    if subject.kind != "self":
        return True
    tokens = subject.draw(sizes)
    copies = tokens[0][:, :, :1].expand_as(tokens[0]).contiguous()
    output = subject([copies] * 3, **options)
    alone = subject([copies] * 3 if options else [copies[:, :, :1].contiguous()] * 3)
    return bool(subject.moved(output - alone, output).any())


@torch.no_grad()
def _ask_constant_values(known: Knowledge, sizes: Sizes) -> Finding | None:
    """With the same value at each key, is the output the same at each query, whatever is masked?"""
    subject = known.subject
    if subject.kind != "triple":
        return None
    tokens = subject.draw(sizes)
    tokens[2] = tokens[2][:, :, :1].expand_as(tokens[2]).contiguous()
    expected = tokens[2][:, :, :1] if subject.blends else None
    for name, options in {**known.options(sizes), **_odd_options(known, sizes)}.items():
        try:
            output = subject(tokens, **options)
        except Exception:  # whatever somebody's code may raise
            continue
        if not output.isfinite().all():
            continue
        expected = output[:, :, :1] if expected is None else expected
        off = subject.moved(output - expected, expected).any(-1) & (output != 0).any(-1)
        if off.any():
            share = (output.norm(dim=-1) / expected.norm(dim=-1))[off]
            worst = share[(share - 1).abs().argmax()]
            meant = name == UNMASKED
            sentence = f"{name}, equal values come out {worst:.2f} times as large, and so does a row's sum"
            return Finding("rows_do_not_sum_to_1", sentence + MEANT * meant, note=meant)
    return None


def ask_heads(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does each row of each head come from one token, and go to one?"""
    subject = known.subject
    if subject.numpy or subject.layout.heads or subject.single:
        return None
    place = min(1, sizes.n_queries - 1)
    if subject.kind == "self" and not _tokens_meet(subject, sizes):
        return Finding("heads_cut", "no two tokens are compared, and who has a say in whom follows no order")
    for part, rows in (_rows_cut(subject, sizes, place) or {}).items():
        if rows != [place]:
            reaches = f"token {place + 1}, counted from 1, reaches these rows of a head: {_listed(rows)}"
            return Finding("heads_cut", f"heads of the {part} are cut so that {reaches}")
    rows = _rows_joined(subject, sizes, place)
    if rows is not None and rows != [place]:
        reaches = f"the blend of query {place + 1}, counted from 1, reaches these outputs: {_listed(rows)}"
        return Finding("heads_cut", f"heads are joined so that {reaches}")
    return None


def _listed(rows: list[int]) -> str:
    """Rows as people count them."""
    return ", ".join(str(row + 1) for row in rows) or "none"


@torch.no_grad()
def _tokens_meet(subject: Subject, sizes: Sizes) -> bool:
    """Whether tokens are compared with each other, or who has a say is a matter of distance, or of groups."""
    table = influence(subject, sizes)[0]
    groups = (table.float() @ table.float()) > 0
    if not table.triu(1).any() or is_band(table) or torch.equal(groups, table):
        return True
    tokens = subject.draw(sizes)
    with watched(tokens[0].size(2), tokens[1].size(2)) as watch:
        subject.raw(tokens)
    return bool(watch.scores)


def _rows_cut(subject: Subject, sizes: Sizes, place: int) -> dict[str, list[int]] | None:
    """Which rows of values, queries and keys change in some head where one token does, if heads differ in that.

    Where they do not, tokens were mixed before the heads were cut, as by a convolution. Factors of scores that no token
    changes stand for positions.
    """
    seen = []
    for seed in (0, 1):
        tokens = subject.draw(sizes)
        changed = [tensor.clone() for tensor in tokens]
        for tensor, other in zip(changed, subject.draw(sizes, seed=seed), strict=True):
            if tensor.size(2) > place:
                tensor[:, :, place] = other[:, :, place]
        with watched(tokens[0].size(2), tokens[1].size(2)) as watch:
            subject.raw(changed[:1] * 3 if subject.kind == "self" else changed)
        if not watch.blends:
            return None
        seen.append([watch.blends[-1][1], *(rows for left, right in watch.scores for rows in (left, right.mT))])
    values, *compared = (_rows_moved(subject, *pair, place) for pair in zip(*seen, strict=True))
    found = {"values": values}
    for part, rows in zip(cycle(("queries", "keys")), compared, strict=False):
        if rows and found.get(part, [place]) == [place]:
            found[part] = rows
    return found


def _rows_moved(subject: Subject, before: Tensor, after: Tensor, place: int) -> list[int]:
    """Which rows differ in some head; `place` alone where it does, and all heads are alike.

    Told is, too, where a token's numbers lie scattered, as by a `reshape`: what mixes tokens moves whole rows.
    """
    numbers = subject.moved(after - before, before)
    numbers = numbers.reshape(-1, *numbers.shape[-2:])  # (batch and heads, n, d)
    moved = numbers.any(-1)
    rows = moved.any(0).nonzero().flatten().tolist()
    scattered = len(rows) > 2 and (numbers.sum((1, 2)) <= numbers.size(2)).all()
    return [place] if place in rows and (moved == moved[0]).all() and not scattered else rows


def _rows_joined(subject: Subject, sizes: Sizes, place: int) -> list[int] | None:
    """Which outputs move where one row of each head's blend does."""
    tokens = subject.draw(sizes)
    outputs = []
    for step in (0.0, 1.0):

        def change(blend: Tensor, step=step) -> Tensor:
            blend = blend.clone()
            blend[..., place, :] += step * blend.abs().max()
            return blend

        with watched(tokens[0].size(2), tokens[1].size(2), change_blend=change) as watch:
            outputs.append(subject(tokens))
        if len(watch.blends) != 1:
            return None
    moved = subject.moved(outputs[1] - outputs[0], outputs[0])
    return moved.any(-1).any(1).any(0).nonzero().flatten().tolist()
