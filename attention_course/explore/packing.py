"""Scores and weights as text for a page, bytes in base64: no more of them than it stays fluid with."""

import base64

import numpy as np

MOST_TOKENS = 128
MOST_NUMBERS = 12 * 12 * 64 * 64  # in all maps together
WEIGHT_STEPS = 4095  # a weight takes 12 bits


def pack_scores(scores: np.ndarray) -> dict:
    """Exact, where few digits would not be at a temperature of 0.05."""
    dtype = "float32" if scores.dtype in (np.float16, np.float32) else "float64"
    return _pack(dtype, np.ascontiguousarray(scores, dtype=np.dtype(dtype).newbyteorder("<")).tobytes())


def pack_weights(weights: np.ndarray) -> dict:
    """To the nearest of 4095 steps from 0 to 1, and so with an error of at most 1/8190: two weights in three bytes."""
    steps = np.rint(weights.astype(np.float64).clip(0, 1) * WEIGHT_STEPS).astype(np.uint16).ravel()
    first, second = np.append(steps, 0)[: len(steps) + len(steps) % 2].reshape(-1, 2).T
    packed = np.stack([first & 255, first >> 8 | (second & 15) << 4, second >> 4], axis=1).astype(np.uint8)
    return _pack("uint12", packed.tobytes())


def tokens_to_keep(shape: tuple[int, ...]) -> int:
    """Of how many tokens at most a page holds the maps: with fewer layers and heads, of more.

    Args:
        shape: `(layers, heads, n_queries, n_keys)`.
    """
    layers, heads, n_queries, n_keys = shape
    most = min(MOST_TOKENS, max(n_queries, n_keys))
    while most > 1 and layers * heads * min(most, n_queries) * min(most, n_keys) > MOST_NUMBERS:
        most -= 1
    return most


def _pack(dtype: str, numbers: bytes) -> dict:
    return {"dtype": dtype, "bytes": base64.b64encode(numbers).decode()}
