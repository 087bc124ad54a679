"""The live model computes in Firefox and in WebKit what PyTorch computes."""

import numpy as np
import torch
from explorer_pages import write_pages
from recording import recording
from waiting import click_until, wait_for

from attention_course.checkpoints import load_character_model
from attention_course.explore import explore_model

VIEW = "document.querySelector('.course-live').explorer"
TYPE = """(() => {{ const area = document.querySelector('.course-live textarea'); area.value = {text!r};
  area.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"""
OPEN = "document.querySelectorAll('.course-live details').forEach((box) => { box.open = true; })"


@torch.no_grad()
def test_the_live_model_is_pytorchs(engine, tmp_path):
    """Its logits and its weights on typed texts, to 1e-4 of the largest, with the mask lifted too. Link and picture."""
    model, vocabulary = load_character_model()
    model = model.double()
    write_pages(tmp_path, [explore_model(model, vocabulary, "The for", alt="A model.")])
    with recording(tmp_path) as origin:
        engine.open(f"{origin}/light.html")
        engine.click("h1")  # the model loads at the reader's first sign
        wait_for(engine, f"!!document.querySelector('.course-live') && !!{VIEW}")
        for text, masked in (
            ("The for", True),
            ("x", True),
            ("class Point: # 12345, and a longer text", True),
            ("x = 7", False),
        ):
            engine.evaluate(TYPE.format(text=text))
            if not masked:
                engine.evaluate(OPEN)
                boxes = engine.evaluate("document.querySelectorAll('.course-live [type=checkbox]').length")
                engine.click(".course-live [type=checkbox]", boxes - 1)
            wait_for(engine, f"{VIEW}.state.text === {text!r} && {VIEW}.sight.symbols.length === {len(text)}")
            wait_for(engine, f"{VIEW}.sight.changes.masked === {str(masked).lower()}")
            symbols = torch.tensor([[vocabulary.index(character) for character in text]])
            mask = None if masked else torch.ones(len(text), len(text), dtype=torch.bool)
            logits, weights = model(symbols, mask, need_weights=True)
            shown = engine.evaluate(f"Array.from({VIEW}.sight.lenses.at(-1))")
            np.testing.assert_allclose(shown, logits.flatten(), rtol=0, atol=1e-4 * logits.abs().max().item())
            np.testing.assert_allclose(engine.evaluate(f"{VIEW}.weights"), weights[-1][0], rtol=0, atol=1e-4)
        said = "document.querySelector('.course-live-status').textContent"
        copied = f"{said} === 'Link copied.' || document.activeElement.value.includes('#live=x+%3D+7')"
        click_until(engine, ".course-live-share button", 0, copied)
        click_until(engine, ".course-live-share button", 1, f"{said} === 'Picture saved.'")
        assert engine.evaluate("window.courseErrors") == []
