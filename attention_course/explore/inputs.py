"""Scores and weights as models hand them over, checked at the door: arrays (layers, heads, n_queries, n_keys)."""

from collections.abc import Sequence

import numpy as np

from attention_course.support.arrays import as_array

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
    strange = ~np.isfinite(weights)
    if strange.any():
        masked = " (whole rows: is every key of a query masked? a row of zeros is taken)"
        hint = masked if strange.all(-1).any() else ""
        raise ValueError(f"weights must be finite, got {strange.sum()} values that are not{hint}")
    if weights.min() < 0:
        raise ValueError(f"weights must not be negative, got {weights.min():.4g}: are they scores, before the softmax?")
    sums = weights.sum(-1, dtype=np.float64)
    wrong = np.minimum(abs(sums - 1), abs(sums)) > SUM_TOLERANCE
    if wrong.any():
        layer, head, query = np.argwhere(wrong)[0]
        raise ValueError(
            "weights must have rows that sum to 1, or to 0 where a query may attend to nothing, "
            f"got {wrong.sum()} that do not; that of layer {layer + 1}, head {head + 1}, query {query + 1} "
            f"sums to {sums[layer, head, query]:.4g} ({_why_not_one(weights[wrong.any(-1)], sums[wrong])})"
        )
    return weights


def _why_not_one(maps: np.ndarray, sums: np.ndarray) -> str:
    """A guess, from the maps `(maps, n_queries, n_keys)` that have wrong rows, and from the sums of these rows."""
    if abs(maps.sum(-2, dtype=np.float64) - 1).max() <= SUM_TOLERANCE:
        return "the columns do: are queries and keys swapped?"
    if sums.max() < 1:
        return "were keys cut off, is there a sink beside the keys (make it a key of its own), or is a dropout on?"
    return "is a dropout on, or are these scores?"


def _check_numbers(name: str, given) -> np.ndarray:
    """Real numbers with four axes, from anything array-like or from a sequence with an array for each layer."""
    per_layer = isinstance(given, Sequence) and (
        not given or any(one is None or getattr(one, "ndim", 0) > 0 or _is_nested(one) for one in given)
    )
    numbers = _stack_layers(name, given) if per_layer else as_array(given)
    if numbers.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {numbers.dtype}")
    if numbers.ndim not in (2, 3, 4) or 0 in numbers.shape:
        hint = f" (with a batch? choose one text: {name}[:, 0])" if numbers.ndim == 5 else ""
        raise ValueError(f"{name} must have shape {AXES}, none of them 0, got {numbers.shape}{hint}")
    return numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape)


def _is_nested(one) -> bool:
    """Whether it holds the maps of several layers, or of several heads in a batch."""
    return isinstance(one, Sequence) and any(getattr(inner, "ndim", 0) > 2 for inner in one)


def _stack_layers(name: str, layers: Sequence) -> np.ndarray:
    """One array from a sequence of `(heads, n_queries, n_keys)`, or of these in a batch of one."""
    missing = [number for number, layer in enumerate(layers, 1) if layer is None]
    if len(missing) == len(layers):
        raise ValueError(
            f"{name} must hold an array for each layer, got {'None' if layers else 'none at all'}: {HOW_TO_KEEP}"
        )
    if missing:
        raise ValueError(
            f"{name} must hold an array for each layer, got None for layer {missing[0]}: where only some layers have "
            f"attention, give those, [layer for layer in {name} if layer is not None]"
        )
    if any(map(_is_nested, layers)):
        raise ValueError(
            f"{name} must hold an array for each layer, got a {type(layers[0]).__name__} of them for each (generate() "
            "returns one for each new token: call the model itself, once, on the whole text)"
        )
    arrays = [as_array(layer) for layer in layers]
    for number, array in enumerate(arrays, 1):
        if array.shape != arrays[0].shape:
            raise ValueError(
                f"{name} must have the same shape in all layers, got {arrays[0].shape} in the first and {array.shape} "
                f"in layer {number}{_why_of_other_shape(arrays[0].shape, array.shape, len(arrays))}"
            )
    if arrays[0].ndim == 4 and len(arrays[0]) != 1:
        raise ValueError(
            f"{name}[0] must be of one text, (heads, n_queries, n_keys) or a batch of 1, got a batch of "
            f"{len(arrays[0])}: choose one, such as [layer[0] for layer in {name}]"
        )
    return np.stack([array[0] if array.ndim == 4 else array for array in arrays])


def _why_of_other_shape(first: tuple[int, ...], other: tuple[int, ...], layers: int) -> str:
    """A guess at what stands among the weights."""
    if len(first) == len(other) == 4 and first[:-1] == other[:-1]:
        return " (cross-attention has other keys: show it in an explorer of its own, with keys=...)"
    if layers == 2:
        return " (a layer of PyTorch returns output and weights: give the second, as weights=...)"
    return ""
