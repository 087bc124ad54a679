"""What the attention explorer is told beside its numbers, checked at the door: labels, gold, and what to start with."""

from collections.abc import Sequence

import numpy as np
import torch

from attention_course.explore.controls import HIGHEST_TEMPERATURE, LOWEST_TEMPERATURE
from attention_course.support.arrays import as_array


def check_labels(tokens, keys, n_queries: int, n_keys: int) -> tuple[list[str], list[str]]:
    """Labels of queries and keys as text: numbers from 1, and the queries' for the keys, where none are given."""
    queries = _as_text("tokens", tokens, n_queries)
    if keys is None and tokens is not None and n_keys != n_queries:
        raise ValueError(f"keys must have {n_keys} labels where there are {n_queries} tokens, got none")
    return queries, _as_text("keys", tokens if keys is None else keys, n_keys)


def _as_text(name: str, labels, size: int) -> list[str]:
    listed = list(range(1, size + 1) if labels is None else labels)
    if getattr(labels, "ndim", 1) > 1:
        raise ValueError(f"{name} must be a list of labels, got shape {tuple(labels.shape)}: of a batch give {name}[0]")
    if len(listed) != size:
        hint = " (the characters of a string: split it as the model does)" if isinstance(labels, str) else ""
        raise ValueError(f"{name} must have {size} labels, got {len(listed)}{hint}")
    return [str(label.item() if isinstance(label, torch.Tensor) else label) for label in listed]


def check_gold(gold, shape: tuple[int, int]) -> np.ndarray | None:
    """Boolean `(n_queries, n_keys)`."""
    if gold is None:
        return None
    gold = as_array(gold)
    if gold.dtype != bool or gold.shape != shape:
        raise ValueError(f"gold must be boolean of shape {shape} (n_queries, n_keys), got {gold.dtype} {gold.shape}")
    return gold


def check_mask(mask: str, masks: Sequence[str], hint: str = "") -> int:
    """Its position among those that are offered; `hint` says why one is not."""
    if mask not in masks:
        raise ValueError(f"mask must be one of {', '.join(masks)}, got {mask!r}{hint}")
    return masks.index(mask)


def check_length(length: int | None, n_keys: int) -> None:
    """How many keys are real."""
    if length is not None and not (isinstance(length, int) and 0 <= length <= n_keys):
        raise ValueError(f"length must be a whole number in 0..{n_keys} (n_keys), got {length!r}")


def check_temperature(temperature: float) -> float:
    """One that the slider reaches."""
    if not LOWEST_TEMPERATURE <= temperature <= HIGHEST_TEMPERATURE:
        raise ValueError(f"temperature must lie in {LOWEST_TEMPERATURE}..{HIGHEST_TEMPERATURE:g}, got {temperature!r}")
    return float(temperature)


def check_choice(name: str, number: int | None, size: int) -> int:
    """The position of a layer or head in its menu, where 0 is all."""
    if number is not None and not (isinstance(number, int) and 1 <= number <= size):
        raise ValueError(f"{name} must be a whole number in 1..{size}, got {number!r}")
    return number or 0


def check_query(query: int, n_queries: int, cut: str) -> None:
    """A row that is drawn; `cut` says which rows are not."""
    if not (isinstance(query, int) and 0 <= query < n_queries):
        hint = f" ({cut} are drawn)" if cut else ""
        raise ValueError(f"query must be a whole number in 0..{n_queries - 1}, got {query!r}{hint}")
