"""A state is written in Firefox and in WebKit as in Chromium."""

import numpy as np
import torch
import torch.nn.functional as F
from explorer_pages import write_pages
from recording import recording

from attention_course.explore import explore_state
from attention_course.explore.state import read_state

VIEW = "document.querySelector('.course-explorer-view')"
NAMES, LETTERS = ["Ann", "Ben", "Cem"], "ABC"
PAIRS = [("Ann", "C"), ("Ben", "A"), ("Cem", "B"), ("Ann", "A")]


def test_what_is_shown_is_what_pytorch_computes(engine, tmp_path):
    """By both rules; and the sliders and the button move it."""
    keys = F.normalize(torch.randn(3, 2, generator=torch.Generator().manual_seed(0)), dim=-1)
    write_pages(tmp_path, [explore_state(NAMES, keys, PAIRS, LETTERS, alt="Four pairs.")])
    numbers = [(NAMES.index(name), LETTERS.index(letter)) for name, letter in PAIRS]
    with recording(tmp_path) as origin:
        engine.open(f"{origin}/light.html")
        for delta in (False, True):
            run = engine.evaluate(f"{VIEW}.explorer.run({str(delta).lower()}, 0.8, 4)")
            state, readings = read_state(keys.double(), numbers, 3, delta=delta, kept=0.8)
            np.testing.assert_allclose(run["state"], state, rtol=0, atol=1e-12)
            np.testing.assert_allclose(run["readings"], readings, rtol=0, atol=1e-12)
        engine.press("[data-control=kept]", 0, "Home")
        assert engine.evaluate(f"{VIEW}.explorer.state.kept") == 0.5
        engine.press("[data-control=written]", 0, "Home")
        assert engine.evaluate(f"{VIEW}.explorer.state.written") == 0
        engine.click(".course-explorer-play")
        assert engine.evaluate(f"{VIEW}.explorer.state.written") == 1
        assert engine.evaluate(f"{VIEW}.querySelector('.course-state-said').textContent") == "Right: 1 of 1"
        shown = engine.evaluate(
            "getComputedStyle(document.querySelector('.course-state-new td:last-child')).backgroundColor"
        )
        assert shown not in ("transparent", "rgba(0, 0, 0, 0)")  # the letter that was written has a ground
        assert engine.evaluate("window.courseErrors") == []
