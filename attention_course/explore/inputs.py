"""Scores and weights as models hand them over, checked at the door: arrays (layers, heads, n_queries, n_keys)."""

from collections.abc import Sequence

import numpy as np

from attention_course.arrays import as_array

# What rounding to bfloat16 may add to a row's sum, or take away: the numbers may have been cast since.
SUM_TOLERANCE = 2**-8
AXES = "(layers, heads, n_queries, n_keys), (heads, n_queries, n_keys) or (n_queries, n_keys)"
HOW_TO_KEEP = (
    'a model of transformers keeps its weights if it is loaded with attn_implementation="eager" and called with '
    "output_attentions=True"
)


def check_given(scores, weights) -> np.ndarray:
    """Whichever of the two is not `None`, `(layers, heads, n_queries, n_keys)`."""
    if scores is None and weights is None:
        raise TypeError(
            f"either scores or weights must be given, got neither: {HOW_TO_KEEP}, and nn.MultiheadAttention returns "
            "them unless need_weights=False"
        )
    if scores is not None and weights is not None:
        raise TypeError("either scores or weights must be given, got both")
    return check_scores("scores", scores) if weights is None else check_weights(weights)


def check_scores(name: str, scores) -> np.ndarray:
    """Finite scores `(layers, heads, n_queries, n_keys)`, in the precision they came in, that are not weights."""
    scores = _check_numbers(name, scores)
    if not np.isfinite(scores).all():
        raise ValueError(
            f"{name} must be finite, got {(~np.isfinite(scores)).sum()} values that are not "
            "(give scores without a mask: the explorer has its own)"
        )
    away = abs(scores.sum(-1, dtype=np.float64) - 1).max()
    if scores.shape[-1] > 1 and scores.min() >= 0 and away <= SUM_TOLERANCE:
        raise ValueError(
            f"{name} must be raw scores, before the softmax, got rows that all sum to 1 and are nowhere negative, as "
            "weights are (explore_attention takes these by name: weights=...)"
        )
    return scores


def check_weights(weights) -> np.ndarray:
    """Weights `(layers, heads, n_queries, n_keys)` whose rows sum to 1, or to 0 where there is nothing to attend to."""
    weights = _check_numbers("weights", weights)
    if not np.isfinite(weights).all():
        raise ValueError(f"weights must be finite, got {(~np.isfinite(weights)).sum()} values that are not")
    if weights.min() < 0:
        raise ValueError(f"weights must not be negative, got {weights.min():.4g}: are they scores, before the softmax?")
    sums = weights.sum(-1, dtype=np.float64)
    wrong = np.minimum(abs(sums - 1), abs(sums)) > SUM_TOLERANCE
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        columns = abs(weights.sum(-2, dtype=np.float64) - 1).max() <= SUM_TOLERANCE
        hint = "the columns do: are queries and keys swapped?" if columns else "is a dropout on, or are these scores?"
        raise ValueError(
            "weights must have rows that sum to 1, or to 0 where a query may attend to nothing, "
            f"got {wrong.sum()} that do not; that of layer {place[0] + 1}, head {place[1] + 1}, query {place[2] + 1} "
            f"sums to {sums[place]:.4g} ({hint})"
        )
    return weights


def _check_numbers(name: str, given) -> np.ndarray:
    """Real numbers with four axes, from anything array-like or from a sequence with an array for each layer."""
    per_layer = isinstance(given, Sequence) and (
        not given or any(one is None or getattr(one, "ndim", 0) > 2 for one in given)
    )
    numbers = _stack_layers(name, given) if per_layer else as_array(given)
    if numbers.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {numbers.dtype}")
    if numbers.ndim not in (2, 3, 4) or 0 in numbers.shape:
        raise ValueError(f"{name} must have shape {AXES}, none of them 0, got {numbers.shape}")
    return numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape)


def _stack_layers(name: str, layers: Sequence) -> np.ndarray:
    """One array from a sequence of `(heads, n_queries, n_keys)`, or of these in a batch of one."""
    if not layers or any(layer is None for layer in layers):
        raise ValueError(
            f"{name} must hold an array for each layer, got {'None' if layers else 'none at all'}: {HOW_TO_KEEP}"
        )
    arrays = []
    for number, layer in enumerate(layers):
        array = as_array(layer)
        if array.ndim == 4 and len(array) != 1:
            raise ValueError(
                f"{name}[{number}] must be of one text, (heads, n_queries, n_keys) or a batch of 1, got a batch of "
                f"{len(array)}: choose one, such as [layer[0] for layer in {name}]"
            )
        arrays.append(array[0] if array.ndim == 4 else array)
        if arrays[-1].shape != arrays[0].shape:
            raise ValueError(
                f"{name} must have the same shape in all layers, got {arrays[0].shape} in the first "
                f"and {arrays[-1].shape} in layer {number + 1}"
            )
    return np.stack(arrays)
