"""What tests of explorers show, and what should be seen."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from explorer_pages import Mounted

from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_steps


def draw_bars(height, width=1):
    figure, ax = plt.subplots(figsize=(4, 2))
    ax.bar([0, 1], [height, width])
    return figure


def every_explorer() -> list:
    """One explorer of each kind, the attention explorer with all its controls."""
    generator = torch.Generator().manual_seed(0)
    words = ["the", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"]
    scores = torch.randn(4, 10, 10, generator=generator)
    return [
        explore_attention(scores, words, gold=torch.eye(10) > 0, length=8, alt="Four heads on ten words."),
        explore_heads({1: scores[:1], 4: scores}, accuracy={1: 0.5, 4: 0.9}, tokens=words, alt="One head and four."),
        explore_frames(draw_bars, {"height": [1, 2, 3], "width": [1.5, 2.5]}, alt="Two bars."),
        explore_steps([("First.", lambda: draw_bars(1)), ("Then.", lambda: draw_bars(2))], alt="Two steps."),
    ]


def may_attend(mask: str, n_queries: int, n_keys: int, length: int) -> torch.Tensor:
    """The four masks, aligned to the bottom right."""
    distance = torch.arange(n_keys - n_queries, n_keys)[:, None] - torch.arange(n_keys)
    return {
        "none": torch.ones_like(distance) > 0,
        "causal": distance >= 0,
        "padding": (torch.arange(n_keys) < length).expand(n_queries, n_keys),
        "sliding window": distance.abs() <= 2,
    }[mask]


def pytorch_weights(scores: torch.Tensor, temperature: float, mask: str, length: int) -> np.ndarray:
    """What the view must show: a query that may attend to nothing gets zeros."""
    allowed = may_attend(mask, *scores.shape[1:], length)
    weights = (scores.double() / temperature).masked_fill(~allowed, float("-inf")).softmax(-1)
    return weights.nan_to_num(0.0).numpy()


def shown_picture(explorer: Mounted) -> str:
    """The address of the frame on show, once it has arrived."""
    image = explorer.view.locator("img")
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") > 0
    return image.get_attribute("src")
