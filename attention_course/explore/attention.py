"""Explorers of attention weights: computed in the browser from raw scores, or as a model hands them over."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from attention_course.arrays import as_array
from attention_course.attention import masked_softmax
from attention_course.explore.controls import HIGHEST_TEMPERATURE, LOWEST_TEMPERATURE, Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_maps
from attention_course.explore.inputs import check_given, check_scores
from attention_course.explore.packing import pack_scores, pack_weights, tokens_to_keep

MASKS = ("none", "causal", "padding", "sliding window")
WINDOW = 2  # keys on either side that the sliding window leaves


def explore_attention(
    scores=None,
    tokens: Sequence | None = None,
    *,
    weights=None,
    keys: Sequence | None = None,
    gold=None,
    alt: str,
    mask: str | None = "none",
    length: int | None = None,
    temperature: float = 1.0,
    layer: int | None = None,
    head: int | None = None,
    query: int = 0,
) -> Explorer:
    """Attention maps of one or of many layers and heads: of scores, or of the weights that a model hands over.

    Of scores the browser computes the weights, under a temperature and a mask that the reader changes. Causal and
    sliding-window masks are aligned to the bottom right, and a query that may attend to nothing gets zeros, as
    everywhere in the course. The window leaves two keys on either side. Weights are drawn as they are, each to the
    nearest of 4095 steps from 0 to 1, so with an error of at most 1/8190.

    Both may be `(layers, heads, n_queries, n_keys)`, `(heads, n_queries, n_keys)` or `(n_queries, n_keys)`; or a list
    or tuple with a `(heads, n_queries, n_keys)`, or a batch of one of these, for each layer, such as
    `output.attentions` of the models of `transformers`. Tensors on any device, in any dtype, arrays, or nested lists.
    The first of four axes is read as layers, the first of three as heads: of a batch give one text, `weights[0]`.
    Where there are more than 12 x 12 maps of 64 x 64 tokens, or more than 128 tokens, only the first tokens are drawn,
    and the explorer says how many.

    Args:
        scores: Raw scores, before the softmax and without a mask.
        tokens: `n_queries` labels of the queries; numbers from 1 if left out.
        weights: Instead of scores: rows that sum to 1, or to 0 for a query that may attend to nothing.
        keys: `n_keys` labels of the keys; the tokens if left out.
        gold: Boolean `(n_queries, n_keys)`: where attention should be, framed at will.
        alt: What the map shows, in words, for whoever does not see it.
        mask: What to start with: `none`, `causal`, `padding` or `sliding window`. `None` if there is to be no
            choice of masks.
        length: How many keys are real; the rest is padding. Without it there is no choice of `padding`.
        temperature: What to start with, from 0.05 to 10.
        layer: The one to start with, counted from 1; all of them if left out.
        head: The one to start with, counted from 1; all of them if left out.
        query: The row whose weights are written out at first, counted from 0.

    Raises:
        TypeError: If there are both scores and weights, or neither.
        ValueError: If they are not finite numbers of such a shape, weights are negative or do not sum to 1 or to 0,
            scores look like weights, or anything else does not fit, such as a mask or a temperature for weights.
    """
    given = check_given(scores, weights)
    if weights is not None and ((mask or "none") != "none" or length is not None or temperature != 1):
        raise ValueError(
            "mask, length and temperature must be left out where weights are given, which are drawn as they are, "
            f"got mask={mask!r}, length={length!r}, temperature={temperature!r}"
        )
    layers, heads, n_queries, n_keys = given.shape
    queries, keys = _labels(tokens, keys, n_queries, n_keys)
    gold = None if gold is None else _check_gold(gold, (n_queries, n_keys))
    if length is not None and not (isinstance(length, int) and 0 <= length <= n_keys):
        raise ValueError(f"length must be a whole number in 0..{n_keys} (n_keys), got {length!r}")
    if not LOWEST_TEMPERATURE <= temperature <= HIGHEST_TEMPERATURE:
        raise ValueError(f"temperature must lie in {LOWEST_TEMPERATURE}..{HIGHEST_TEMPERATURE:g}, got {temperature!r}")
    masks = tuple(name for name in MASKS if name != "padding" or length is not None)
    start = masks.index(_check_mask("mask", mask or "none", masks))
    start_layer, start_head = _check_choice("layer", layer, layers), _check_choice("head", head, heads)

    most = tokens_to_keep(given.shape)
    note = _describe_cut(most, n_queries, n_keys)
    given, queries, keys = given[:, :, :most, :most], queries[:most], keys[:most]
    gold = None if gold is None else gold[:most, :most]
    n_queries, n_keys = given.shape[2:]
    if not (isinstance(query, int) and 0 <= query < n_queries):
        raise ValueError(f"query must be a whole number in 0..{n_queries - 1}, got {query!r}")

    controls = []
    if weights is None:
        controls.append(Control("temperature", "temperature", "temperature", "temperature"))
    if layers > 1:
        controls.append(Control("choice", "layer", "layer", "layer", ("all", *map(str, range(1, layers + 1)))))
    if heads > 1:
        names = ("all, side by side", *(f"head {head}" for head in range(1, heads + 1)))
        controls.append(Control("choice", "head", "head", "head", names))
    if mask is not None and weights is None:
        controls.append(Control("choice", "mask", "mask", "mask", masks))
    if gold is not None:
        controls.append(Control("check", "gold", "show gold", "gold"))
    numbers = pack_scores(given) if weights is None else pack_weights(given)
    data = {
        **_shared_data(queries, keys, masks, None if length is None else min(length, n_keys)),
        "models": [{"layers": layers, "heads": heads, "numbers": numbers, "note": note}],
        "gold": None if gold is None else gold.tolist(),
        "query": query,
    }
    values = {"data": data, "temperature": float(temperature), "mask": start, "gold": gold is not None}
    values |= {"layer": start_layer, "head": start_head}
    shown = given[start_layer - 1 :][:1] if start_layer else given
    shown = shown[:, start_head - 1 :][:, :1] if start_head else shown
    if weights is None:
        shown = _weights(shown, _allowed(masks[start], n_queries, n_keys, data["length"]), temperature)
    first = _draw_first(shown, queries, keys, gold, alt, start_layer, start_head)
    return Explorer("attention", values, controls, f"<p>{note}</p>{first}" if note else first, alt)


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
    models = [check_scores(f"scores[{count}]", scores[count]) for count in counts]
    n_queries, n_keys = models[0].shape[2:]
    for count, model in zip(counts, models, strict=True):
        if model.shape != (1, count, n_queries, n_keys):
            raise ValueError(f"scores[{count}] must have shape {(count, n_queries, n_keys)}, got {model.shape[1:]}")
        if not 0 <= accuracy[count] <= 1:
            raise ValueError(f"accuracy[{count}] must lie in 0..1, got {accuracy[count]!r}")
    queries, keys = _labels(tokens, keys, n_queries, n_keys)
    masks = tuple(name for name in MASKS if name != "padding")
    start = masks.index(_check_mask("mask", mask, masks))
    notes = [f"accuracy {float(accuracy[count]):.1%}" for count in counts]
    data = {
        **_shared_data(queries, keys, masks, None),
        "models": [
            {"layers": 1, "heads": count, "numbers": pack_scores(model), "note": note}
            for count, model, note in zip(counts, models, notes, strict=True)
        ],
        "gold": None,
        "query": 0,
    }
    controls = [Control("slider", "heads", "number of heads", "heads", tuple(map(str, counts)))]
    values = {"data": data, "temperature": 1.0, "mask": start, "heads": 0, "gold": False}
    weights = _weights(models[0], _allowed(mask, n_queries, n_keys, None))
    return Explorer("attention", values, controls, _draw_first(weights, queries, keys, None, alt), alt)


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


def _draw_first(weights, queries, keys, gold, alt, layer: int = 0, head: int = 0) -> str:
    """The maps of `(layers, heads, n_queries, n_keys)`: those of all, or of the one layer or head, counted from 1."""
    layers, heads, *shape = weights.shape
    numbers = [(layer or i, head or j) for i in range(1, layers + 1) for j in range(1, heads + 1)]
    names = [f"layer {i}, head {j}" if layers > 1 or layer else f"head {j}" for i, j in numbers]
    named = len(numbers) > 1 or layer or head
    columns = 4 if 1 in (layers, heads) else heads
    return draw_maps(weights.reshape(-1, *shape), queries, keys, gold, alt, names if named else (), columns)


def _shared_data(queries, keys, masks, length) -> dict:
    return {"queries": queries, "keys": keys, "masks": list(masks), "length": length, "window": WINDOW}


def _check_choice(name: str, number: int | None, size: int) -> int:
    """Its position in the menu, where 0 is all."""
    if number is not None and not (isinstance(number, int) and 1 <= number <= size):
        raise ValueError(f"{name} must be a whole number in 1..{size}, got {number!r}")
    return number or 0


def _describe_cut(most: int, n_queries: int, n_keys: int) -> str:
    """What the reader is told where not all tokens are drawn."""
    sizes = {"queries": n_queries, "keys": n_keys} if n_queries != n_keys else {"tokens": n_keys}
    return " and ".join(f"only the first {most} of {size} {name}" for name, size in sizes.items() if size > most)


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
