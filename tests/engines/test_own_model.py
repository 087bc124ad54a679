"""A model's own weights are drawn in Firefox and in WebKit as in Chromium."""

import numpy as np
import torch
from explorer_pages import write_pages
from recording import recording
from waiting import click_until

from attention_course.explore import explore_attention

VIEW = "document.querySelector('.course-explorer-view')"


def test_what_is_shown_is_what_was_handed_over(engine, tmp_path):
    """In the grid of all maps, then in the one that a click opens; and there is a picture to be saved."""
    weights = (torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(0)) * 3).softmax(-1)
    write_pages(tmp_path, [explore_attention(weights=weights, tokens=["[CLS]", *"abc", "##s"], alt="A model.")])
    with recording(tmp_path) as origin:
        engine.open(f"{origin}/light.html")
        np.testing.assert_allclose(engine.evaluate(f"{VIEW}.explorer.weights"), weights.flatten(0, 1), atol=1 / 8000)
        click_until(engine, ".course-explorer-grid canvas", 4, f"{VIEW}.explorer.weights.length === 1")
        np.testing.assert_allclose(engine.evaluate(f"{VIEW}.explorer.weights"), weights[1, 1:2], atol=1 / 8000)
        assert engine.evaluate(f"{VIEW}.explorer.picture().toDataURL().length") > 5000
        assert engine.evaluate("window.courseErrors") == []
