"""An explorer of what a recurrent state keeps: pairs of a name and a letter, written one by one into one matrix."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.efficient.gated_delta import gated_delta_rule
from attention_course.efficient.gated_linear import gated_linear_attention
from attention_course.explore.controls import Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.state_picture import draw_state

SHARES = tuple(step / 20 for step in range(10, 21))  # of the state that a step may keep
RULES = ("add", "write only what is new (delta)")
MOST_LETTERS, MOST_NAMES, WIDEST, MOST_PAIRS, LONGEST_NAME = 6, 12, 12, 24, 4  # that a phone has room for


def explore_state(
    names: Sequence[str],
    keys: Tensor,
    pairs: Sequence[tuple[str, str]],
    letters: Sequence[str],
    *,
    delta: bool = False,
    kept: float = 1.0,
    written: int | None = None,
    alt: str,
) -> Explorer:
    """A matrix into which pairs of a name and a letter are written, and what each name then reads in it.

    A name is its key k, of length 1; a letter is the vector v with a one at its place. Each step keeps a share of the
    state S, then writes: `S = kept * S`, `S = S + k u^T`, where u is v, or what is new in it, `v - S^T k`. A name reads
    `S^T k`, a number for each letter, and answers with the letter that has the largest; if two have, with neither.

    The reader chooses the rule, the share that is kept and how many of the pairs are written. All is computed in the
    browser, in float64.

    Args:
        names: At most 12 different ones, of at most 4 characters.
        keys: `(n_names, d_k)`, rows of length 1, with `d_k` at most 12.
        pairs: At most 24 pairs `(name, letter)`, in the order in which they are written. A name that comes again has
            a new letter, and should forget the old one.
        letters: 2 to 6 different ones, each a single character.
        delta: Whether the rule to start with writes only what is new.
        kept: The share to start with: 0.5, 0.55, ..., 1.
        written: How many pairs are written at first; all of them if left out.
        alt: What is seen, in words, for whoever does not see it.

    Raises:
        ValueError: If there are too many or too few of anything, keys are not of length 1 or not one for each name, or
            a pair has another name or letter.
    """
    names = _check_labels("names", names, (1, MOST_NAMES), LONGEST_NAME)
    letters = _check_labels("letters", letters, (2, MOST_LETTERS), 1)
    keys = _check_keys(keys, len(names))
    numbers = _check_pairs(pairs, names, letters)
    written = len(numbers) if written is None else written
    if written not in range(1, len(numbers) + 1):
        raise ValueError(f"written must be a whole number in 1..{len(numbers)} (the pairs), got {written!r}")
    if kept not in SHARES:
        raise ValueError(f"kept must be one of {', '.join(f'{share:g}' for share in SHARES)}, got {kept!r}")

    state, readings = read_state(keys, numbers[:written], len(letters), delta=delta, kept=kept)
    how = f"{'only what is new' if delta else 'add'}, kept: {kept:g}"
    first = draw_state(names, letters, numbers, written, state.tolist(), readings.tolist(), how, alt)
    data = {"names": names, "letters": letters, "keys": keys.tolist(), "pairs": numbers, "shares": list(SHARES)}
    counts = tuple(f"{count} of {len(numbers)}" for count in range(len(numbers) + 1))
    controls = [
        Control("choice", "rule", "rule", "rule", RULES),
        Control("slider", "kept", "kept", "kept", tuple(f"{share:g}" for share in SHARES)),
        Control("slider", "written", "written", "written", counts),
    ]
    values = {"data": data, "rule": int(delta), "kept": SHARES.index(kept), "written": written}
    return Explorer("state", values, controls, first, alt)


def read_state(
    keys: Tensor, pairs: Sequence[tuple[int, int]], n_letters: int, *, delta: bool, kept: float
) -> tuple[Tensor, Tensor]:
    """The state `(d_k, n_letters)` after all pairs of numbers, and what each name reads in it, `(n_names, n_letters)`.

    By the course's own rules: a query is a name's key, or has a single one, at the row of the state that it reads.
    """
    queries = torch.cat([torch.eye(keys.size(1), dtype=keys.dtype), keys])
    names, letters = torch.tensor(pairs).T
    key, value = keys[names], torch.eye(n_letters, dtype=keys.dtype)[letters]
    tokens = [each.expand(len(queries), 1, -1, -1) for each in (key, value)]
    query = queries[:, None, None].expand_as(tokens[0])
    gate = torch.full_like(key, kept).expand_as(query)
    if delta:
        outputs = gated_delta_rule(query, *tokens, gate[..., :1], torch.ones_like(gate[..., :1]))
    else:
        outputs = gated_linear_attention(query, *tokens, gate)
    rows = outputs[:, 0, -1]
    return rows[: keys.size(1)], rows[keys.size(1) :]


def _check_labels(argument: str, labels: Sequence[str], counts: tuple[int, int], longest: int) -> list[str]:
    labels, (fewest, most) = list(labels), counts
    fit = all(isinstance(label, str) and 1 <= len(label) <= longest for label in labels)
    if not fit or not fewest <= len(labels) <= most or len(set(labels)) < len(labels):
        length = f"at most {longest} characters" if longest > 1 else "one character"
        raise ValueError(f"{argument} must be {fewest} to {most} different words of {length}, got {labels}")
    return labels


def _check_keys(keys: Tensor, n_names: int) -> Tensor:
    keys = torch.as_tensor(keys).detach().cpu().double()
    if keys.ndim != 2 or len(keys) != n_names or not 1 <= keys.size(1) <= WIDEST:
        raise ValueError(
            f"keys must have shape ({n_names}, d_k), one row for each name, d_k at most {WIDEST}, "
            f"got {tuple(keys.shape)}"
        )
    lengths = keys.norm(dim=1)
    if not torch.allclose(lengths, torch.ones_like(lengths), atol=1e-3):
        raise ValueError(
            f"keys must have rows of length 1, got lengths {[round(each, 3) for each in lengths.tolist()]}"
        )
    return keys


def _check_pairs(pairs: Sequence[tuple[str, str]], names: list[str], letters: list[str]) -> list[tuple[int, int]]:
    pairs = [tuple(pair) for pair in pairs]
    if not 1 <= len(pairs) <= MOST_PAIRS:
        raise ValueError(f"pairs must be 1 to {MOST_PAIRS} pairs, got {len(pairs)}")
    for pair in pairs:
        if len(pair) != 2 or pair[0] not in names or pair[1] not in letters:
            raise ValueError(f"pairs must be of a name of {names} and a letter of {letters}, got {pair}")
    return [(names.index(name), letters.index(letter)) for name, letter in pairs]
