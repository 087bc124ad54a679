"""The masks that the attention explorer offers, and the weights that it starts with under one of them."""

import numpy as np
import torch

from attention_course.attention import masked_softmax

MASKS = ("none", "causal", "padding", "sliding window")
WINDOW = 2  # keys on either side that the sliding window leaves


def make_weights(scores: np.ndarray, allowed: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """The weights of the first state."""
    return masked_softmax(torch.from_numpy(scores.astype(np.float64)) / temperature, torch.tensor(allowed)).numpy()


def who_may(mask: str, n_queries: int, n_keys: int, length: int | None) -> np.ndarray:
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
