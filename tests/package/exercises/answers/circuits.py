import copy

import torch

from attention_course.exercises.circuits import copying, patch, remove


def _patched_from(heads, output, clean, corrupted, head, place):
    patched = heads(corrupted)
    patched[place:, head] = heads(clean)[place:, head]
    return corrupted + patched.flatten(1) @ output.T


WRONG = {
    "circuits.induction": {
        "the largest weight": lambda weights, period: weights.diagonal(1 - period)[1:].max(),
        "the second period's first query left out": lambda weights, period: weights.diagonal(1 - period)[2:].mean(),
        "the queries of the first period": lambda weights, period: weights[:period].diagonal(-1).mean(),
    },
    "circuits.remove": {
        "rows and columns": lambda weight, head, n_heads: remove(remove(weight, head, n_heads).T, head, n_heads).T,
        "everything": lambda weight, head, n_heads: torch.zeros_like(weight),
        "all later heads": lambda weight, head, n_heads: (
            weight * (torch.arange(len(weight)) < head * len(weight) // n_heads)
        ),
    },
    "circuits.patch": {
        "nothing patched": lambda heads, output, clean, corrupted, head, place: (
            corrupted + heads(corrupted).flatten(1) @ output.T
        ),
        "from this place on": _patched_from,
        "the other heads": lambda heads, output, clean, corrupted, head, place: (
            patch(heads, output, clean, corrupted, slice(None), place)
            + patch(heads, output, corrupted, corrupted, head, place)
            - patch(heads, output, clean, corrupted, head, place)
        ),
    },
    "circuits.copying": {
        "transposed twice": lambda symbol, value, output, logits: copying(logits, value, output, symbol),
        "over random symbols": lambda symbol, value, output, logits: copying(symbol.flip(0), value, output, logits),
        "value alone": lambda symbol, value, output, logits: copying(symbol, value, value.T, logits),
    },
}


def _loop(weights, period):
    picked = [weights[query, query - period + 1] for query in range(period, len(weights))]
    return sum(picked) / len(picked)


def _by_mask(weight, head, n_heads):
    return weight * (torch.arange(len(weight)) // (len(weight) // n_heads) != head)


def _cleared(kept, head, n_heads):
    width = len(kept) // n_heads
    kept[:, head * width : (head + 1) * width] = 0
    return kept


def _difference(heads, output, clean, corrupted, head, place):
    """The unpatched run, and what this head would add otherwise, by its columns of the weight."""
    width = heads(clean).size(-1)
    found = corrupted + heads(corrupted).flatten(1) @ output.T
    more = heads(clean)[place, head] - heads(corrupted)[place, head]
    found[place] += output[:, head * width : (head + 1) * width] @ more
    return found


def _by_a_mask(heads, output, clean, corrupted, head, place):
    chosen = torch.zeros(heads(clean).shape[:2], dtype=torch.bool)
    chosen[place, head] = True
    return corrupted + torch.where(chosen[:, :, None], heads(clean), heads(corrupted)).flatten(1) @ output.T


def _symbol_by_symbol(symbol, value, output, logits):
    hits = [(logits @ (output @ (value @ one))).argmax().item() == number for number, one in enumerate(symbol)]
    return sum(hits) / len(hits)


RIGHT = {
    "circuits.induction": {"a loop": _loop},
    "circuits.remove": {
        "a mask": _by_mask,
        "a deep copy": lambda weight, head, n_heads: _cleared(copy.deepcopy(weight), head, n_heads),
        "in NumPy": lambda weight, head, n_heads: _cleared(weight.numpy().copy(), head, n_heads),
    },
    "circuits.patch": {"the difference alone": _difference, "a mask": _by_a_mask},
    "circuits.copying": {"one symbol at a time": _symbol_by_symbol},
}
