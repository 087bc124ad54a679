"""Explorers of attention weights, computed in the browser from raw scores."""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from attention_course.arrays import as_array
from attention_course.attention import masked_softmax
from attention_course.explore.controls import HIGHEST_TEMPERATURE, LOWEST_TEMPERATURE, Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_maps

MASKS = ("none", "causal", "padding", "sliding window")
WINDOW = 2  # keys on either side that the sliding window leaves


def explore_attention(
    scores,
    tokens: Sequence | None = None,
    *,
    keys: Sequence | None = None,
    gold=None,
    alt: str,
    mask: str | None = "none",
    length: int | None = None,
    temperature: float = 1.0,
    query: int = 0,
) -> Explorer:
    """Attention maps under a temperature, a mask and a choice of heads, computed in the browser.

    Causal and sliding-window masks are aligned to the bottom right, and a query that may attend to nothing
    gets zeros, as everywhere in the course. The window leaves two keys on either side.

    Args:
        scores: Raw scores, before the softmax and without a mask: `(heads, n_queries, n_keys)`, or
            `(n_queries, n_keys)` for one head. Tensor, array or nested lists.
        tokens: `n_queries` labels of the queries; numbers from 1 if left out.
        keys: `n_keys` labels of the keys; the tokens if left out.
        gold: Boolean `(n_queries, n_keys)`: where attention should be, framed at will.
        alt: What the map shows, in words, for whoever does not see it.
        mask: What to start with: `none`, `causal`, `padding` or `sliding window`. `None` if there is to be no
            choice of masks.
        length: How many keys are real; the rest is padding. Without it there is no choice of `padding`.
        temperature: What to start with, from 0.05 to 10.
        query: The row whose weights are written out at first.

    Raises:
        ValueError: If scores are not finite numbers of such a shape, or anything else does not fit them.
    """
    scores = _check_scores("scores", scores)
    heads, n_queries, n_keys = scores.shape
    queries, keys = _labels(tokens, keys, n_queries, n_keys)
    gold = None if gold is None else _check_gold(gold, (n_queries, n_keys))
    if length is not None and not (isinstance(length, int) and 0 <= length <= n_keys):
        raise ValueError(f"length must be a whole number in 0..{n_keys} (n_keys), got {length!r}")
    if not LOWEST_TEMPERATURE <= temperature <= HIGHEST_TEMPERATURE:
        raise ValueError(f"temperature must lie in {LOWEST_TEMPERATURE}..{HIGHEST_TEMPERATURE:g}, got {temperature!r}")
    if not (isinstance(query, int) and 0 <= query < n_queries):
        raise ValueError(f"query must be a whole number in 0..{n_queries - 1}, got {query!r}")
    masks = tuple(name for name in MASKS if name != "padding" or length is not None)
    start = masks.index(_check_mask("mask", mask or "none", masks))

    controls = [Control("temperature", "temperature", "temperature", "temperature")]
    if heads > 1:
        names = ("all, side by side", *(f"head {head}" for head in range(1, heads + 1)))
        controls.append(Control("choice", "head", "head", "head", names))
    if mask is not None:
        controls.append(Control("choice", "mask", "mask", "mask", masks))
    if gold is not None:
        controls.append(Control("check", "gold", "show gold", "gold"))
    data = {
        **_shared_data(queries, keys, masks, length),
        "models": [{"heads": heads, "scores": _pack(scores), "note": ""}],
        "gold": None if gold is None else gold.tolist(),
        "query": query,
    }
    values = {"data": data, "temperature": float(temperature), "mask": start, "head": 0, "gold": gold is not None}
    weights = _weights(scores, _allowed(masks[start], n_queries, n_keys, length), temperature)
    return Explorer("attention", values, controls, draw_maps(weights, queries, keys, gold, alt), alt)


def explore_heads(
    scores: Mapping,
    *,
    accuracy: Mapping,
    tokens: Sequence | None = None,
    keys: Sequence | None = None,
    mask: str = "none",
    alt: str,
) -> Explorer:
    """What models trained with different numbers of heads attend to, and how well each does its task.

    Args:
        scores: For each number of heads the raw scores of that model, `(heads, n_queries, n_keys)`, all on the
            same input.
        accuracy: For each number of heads the share of right answers, from 0 to 1.
        tokens: `n_queries` labels of the queries; numbers from 1 if left out.
        keys: `n_keys` labels of the keys; the tokens if left out.
        mask: The one that the models were trained with: `none`, `causal` or `sliding window`.
        alt: What the maps show, in words.

    Raises:
        ValueError: If a model's scores are not finite numbers of the shape that its number of heads asks for,
            or anything else does not fit them.
    """
    if not scores:
        raise ValueError("scores must hold at least one model, got none")
    if set(accuracy) != set(scores):
        raise ValueError(f"accuracy must be given for the models of scores {list(scores)}, got {list(accuracy)}")
    counts = sorted(scores)
    models = [_check_scores(f"scores[{count}]", scores[count]) for count in counts]
    n_queries, n_keys = models[0].shape[1:]
    for count, model in zip(counts, models, strict=True):
        if model.shape != (count, n_queries, n_keys):
            raise ValueError(f"scores[{count}] must have shape {(count, n_queries, n_keys)}, got {model.shape}")
        if not 0 <= accuracy[count] <= 1:
            raise ValueError(f"accuracy[{count}] must lie in 0..1, got {accuracy[count]!r}")
    queries, keys = _labels(tokens, keys, n_queries, n_keys)
    masks = tuple(name for name in MASKS if name != "padding")
    start = masks.index(_check_mask("mask", mask, masks))
    notes = [f"accuracy {float(accuracy[count]):.1%}" for count in counts]
    data = {
        **_shared_data(queries, keys, masks, None),
        "models": [
            {"heads": count, "scores": _pack(model), "note": note}
            for count, model, note in zip(counts, models, notes, strict=True)
        ],
        "gold": None,
        "query": 0,
    }
    controls = [Control("slider", "heads", "number of heads", "heads", tuple(map(str, counts)))]
    values = {"data": data, "temperature": 1.0, "mask": start, "head": 0, "heads": 0, "gold": False}
    weights = _weights(models[0], _allowed(mask, n_queries, n_keys, None))
    return Explorer("attention", values, controls, draw_maps(weights, queries, keys, None, alt), alt)


def _check_scores(name: str, scores) -> np.ndarray:
    """Finite scores `(heads, n_queries, n_keys)`, in the precision they came in."""
    scores = as_array(scores)
    if scores.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {scores.dtype}")
    if scores.ndim not in (2, 3) or 0 in scores.shape:
        raise ValueError(
            f"{name} must have shape (heads, n_queries, n_keys) or (n_queries, n_keys), none of them 0, "
            f"got {scores.shape}"
        )
    if not np.isfinite(scores).all():
        raise ValueError(
            f"{name} must be finite, got {(~np.isfinite(scores)).sum()} values that are not "
            "(give scores without a mask: the explorer has its own)"
        )
    return scores if scores.ndim == 3 else scores[None]


def _check_gold(gold, shape: tuple[int, int]) -> np.ndarray:
    gold = as_array(gold)
    if gold.dtype != bool or gold.shape != shape:
        raise ValueError(f"gold must be boolean of shape {shape} (n_queries, n_keys), got {gold.dtype} {gold.shape}")
    return gold


def _check_mask(name: str, mask: str, masks: tuple[str, ...]) -> str:
    if mask not in masks:
        hint = " (padding needs a length)" if mask == "padding" else ""
        raise ValueError(f"{name} must be one of {', '.join(masks)}, got {mask!r}{hint}")
    return mask


def _labels(tokens, keys, n_queries: int, n_keys: int) -> tuple[list[str], list[str]]:
    """Labels of queries and keys as text."""
    queries = _check_labels("tokens", tokens, n_queries)
    if keys is None and tokens is not None and n_keys != n_queries:
        raise ValueError(f"keys must have {n_keys} labels where there are {n_queries} tokens, got none")
    return queries, _check_labels("keys", tokens if keys is None else keys, n_keys)


def _check_labels(name: str, labels, size: int) -> list[str]:
    labels = range(1, size + 1) if labels is None else list(labels)
    if len(labels) != size:
        raise ValueError(f"{name} must have {size} labels, got {len(labels)}")
    return [str(label.item() if isinstance(label, torch.Tensor) else label) for label in labels]


def _shared_data(queries, keys, masks, length) -> dict:
    return {"queries": queries, "keys": keys, "masks": list(masks), "length": length, "window": WINDOW}


def _pack(scores: np.ndarray) -> dict:
    """The bytes of the numbers in base64: exact, where few digits would not be at a temperature of 0.05."""
    dtype = "float32" if scores.dtype in (np.float16, np.float32) else "float64"
    flat = np.ascontiguousarray(scores, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "bytes": base64.b64encode(flat.tobytes()).decode()}


def _allowed(mask: str, n_queries: int, n_keys: int, length: int | None) -> np.ndarray:
    """Whether a query may attend to a key, `(n_queries, n_keys)`: what the view computes too."""
    key = np.arange(n_keys)
    distance = np.arange(n_keys - n_queries, n_keys)[:, None] - key
    rules = {
        "none": np.ones_like(distance, dtype=bool),
        "causal": distance >= 0,
        "padding": np.broadcast_to(key < (n_keys if length is None else length), distance.shape),
        "sliding window": abs(distance) <= WINDOW,
    }
    return rules[mask]


def _weights(scores: np.ndarray, allowed: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """The weights of the first state."""
    return masked_softmax(torch.from_numpy(scores.astype(np.float64)) / temperature, torch.tensor(allowed)).numpy()
