"""Questions about what is hidden: by a mask, and from those that came before."""

import torch

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import Knowledge
from attention_course.diagnosing.masks import Form, Tried, influence, is_band, try_form
from attention_course.diagnosing.subject import Sizes, Subject

KEYS = "the keys"
MEANT = " (if it is to be causal, say causal=True)"


def ask_masks(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does each mask argument hide keys, and in the sense that was told?"""
    for argument, works in known.masks.items():
        ran = known.ran[argument]
        if works is not None:
            told = known.told.mask_means
            if told is None:
                continue
            if "added" in works.form.meaning:
                finding = _only_added(known, works, sizes)
                if finding is not None:
                    return finding
            elif works.form.hides != (told == "hide"):
                sentence = f"{argument} takes {works.form.meaning}, and True was said to {told}"
                return Finding("mask_inverted", sentence)
            continue
        if not ran:
            continue
        hides = known.told.mask_means == "hide"
        if not any(tried.moved for tried in ran):
            return Finding("mask_no_effect", f"{argument} was given in {len(ran)} forms, and moves no output")
        moving = [tried for tried in ran if tried.moved]
        square = Sizes(sizes.batch, sizes.n_queries, sizes.n_queries)
        laid = {tried.form: _laid(known.subject, tried.form, square) for tried in moving}
        axes = {form: axis for form, axis in laid.items() if axis not in (None, KEYS)}
        if KEYS not in laid.values() and axes:
            form = min(axes, key=lambda form: form.hides != hides)
            return Finding("mask_axis", f"{argument}, of {form.shape}: {axes[form]}")
        tried = min(moving, key=lambda each: (laid[each.form] != KEYS, each.form.hides != hides))
        return _hidden_keys(known.subject, tried, sizes)
    return None


def _only_added(known: Knowledge, works: Tried, sizes: Sizes) -> Finding | None:
    """Where a mask is added, and booleans are taken all the same: do they hide, in the sense that was told?"""
    for tried in known.ran[works.form.argument]:
        boolean = tried.form.shape == works.form.shape and "boolean" in tried.form.meaning
        if boolean and tried.form.hides == (known.told.mask_means == "hide"):
            return _hidden_keys(known.subject, tried, sizes)
    return None


def _hidden_keys(subject: Subject, tried: Tried, sizes: Sizes) -> Finding | None:
    """How many pairs that a mask of this form is to hide still have a say, or else, how many others have lost it."""
    tried = try_form(subject, tried.form, sizes, influence(subject, sizes)) or tried
    if tried.right:  # of so few tokens
        return None
    hidden, shown = (tried.compared & each for each in (~tried.may, tried.may))
    left, lost = int((hidden & tried.influence).sum()), int((shown & tried.plain & ~tried.influence).sum())
    sentence = f"{tried.form.argument}, as {tried.form.meaning}: "
    if left:
        sentence += f"of {_pairs(hidden)} it is to hide, {left} still {'has' if left == 1 else 'have'} a say"
    else:
        sentence += f"of {_pairs(shown)} it is to show, {lost} {'has lost its' if lost == 1 else 'have lost their'} say"
    return Finding("hidden_keys", sentence)


def _pairs(table):
    return "1 pair" if table.sum() == 1 else f"{table.sum()} pairs"


@torch.no_grad()
def _laid(subject: Subject, form: Form, sizes: Sizes) -> str | None:
    """What a mask of this form is laid along: the keys, or something else, in words; `None` where that is unclear."""
    tokens = subject.draw(sizes)
    batch, n_queries, n_keys = len(tokens[0]), tokens[0].size(2), tokens[1].size(2)
    everything = torch.ones(batch, n_queries, n_keys, dtype=torch.bool)
    without = everything.clone()
    without[: 1 if form.by_sequence else None, : 1 if form.by_query else None, -1] = False
    try:
        before, after = (subject(tokens, **form.build(may, subject.dtype)) for may in (everything, without))
    except Exception:  # whatever somebody's code may raise
        return None
    if not before.isfinite().all():  # it hides everything: another meaning is its own
        return None
    moved = subject.moved(after - before, before).any(-1).any(1)  # (batch, n_queries)
    if form.by_sequence and moved[1:].any():
        return "what is hidden in the first sequence changes another one"
    rows = moved[0].nonzero().flatten().tolist()
    if form.by_query:
        return {(0,): KEYS, (n_keys - 1,): "rows are taken for columns"}.get(tuple(rows))
    if rows == [n_keys - 1]:
        return "it hides queries (rows) in place of keys (columns)"
    return KEYS if len(rows) >= n_queries - 1 else None


def _first_is_left_nothing(table: torch.Tensor) -> bool:
    """Whether all rows are causal but the first, all of whose scores were replaced by the same finite number."""
    rest = table[1:]
    earlier = torch.ones_like(rest).tril()
    return len(rest) > 1 and bool(table[0].all() and rest[earlier].all() and not rest.triu(2).any())


def ask_future(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Where it is causal, or nearly, do later tokens have a say?"""
    subject = known.subject
    if known.ignored and subject.kind != "cross" and not subject.single:
        hint = bool(subject.signature.masks) and not known.told.causal
        sentence = f"{known.ignored}=True moves no output, and later tokens have a say"
        return Finding("future", sentence + ", unless it is a hint of what the mask is" * hint, note=hint)
    if known.told.causal is False and not known.causal_options:
        return None
    for argument, works in known.masks.items():
        if works is not None and works.replaces:
            sentence = f"without {argument} it hides what comes later, and with it does not"
            return Finding("future", sentence, note=works.form.by_query)
    square = Sizes(sizes.batch, sizes.n_queries, sizes.n_queries)
    if subject.single:
        return None
    table, when = influence(subject, square, **known.causal_options)[0], ""
    later = torch.ones_like(table).triu(1)
    causal = known.told.causal or bool(known.causal_options)
    if not (table & later).any():
        causal = True
        with subject.in_training():
            table, when = influence(subject, square, **known.causal_options)[0], "in training mode, "
    leaks = table & later
    if not leaks.any():
        return None
    if _first_is_left_nothing(table):
        sentence = f"{when}the first token sees all others, as where a causal mask hides each token from itself, too"
        return Finding("future", sentence)
    if not causal and (torch.equal(table, table.T) or not is_band(table)):
        return None
    query, key = leaks.nonzero()[0].tolist()
    sentence = f"{when}token {key + 1} has a say in output {query + 1}, which stands before it"
    return Finding("future", sentence + MEANT * (not causal), note=not causal)


def ask_others(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Has any other token a say?"""
    subject = known.subject
    if subject.kind == "cross" or subject.single:  # of two sequences, either may be the one that asks
        return None
    table = influence(subject, Sizes(sizes.batch, sizes.n_queries, sizes.n_queries)).any(0)
    if (table & ~torch.eye(len(table), dtype=torch.bool)).any():
        return None
    return Finding("tokens_alone", f"of {len(table)} tokens, none has a say in another one's output")


def ask_corner(known: Knowledge, sizes: Sizes) -> Finding | None:
    """With fewer queries than keys, does a causal mask stand in the bottom right corner?"""
    subject = known.subject
    if subject.kind == "self" or subject.equal or sizes.n_queries >= sizes.n_keys:
        return None
    table = influence(subject, sizes, **known.causal_options)[0]
    n_queries, n_keys = table.shape
    if table.all() or not torch.equal(table, torch.ones_like(table).tril()):
        return None
    expected = n_keys - n_queries + 1
    sentence = f"with {n_queries} queries and {n_keys} keys, the first query sees 1 key, and not {expected}"
    asked_for = (bool(known.causal_options) or subject.of_pytorch) and not known.told.causal
    return Finding("mask_corner", sentence + (", as in PyTorch's is_causal" if asked_for else ""), note=asked_for)
