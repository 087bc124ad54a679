"""The live model computes in Firefox and in WebKit what PyTorch computes, as it does in Chromium: every week."""

import time

import numpy as np
import pytest
import torch
from bare_page import write_pages
from recording import recording
from selenium.common.exceptions import WebDriverException

from attention_course.course.checkpoints import load_character_model
from attention_course.explore import explore_model

MODEL = "document.querySelector('.course-live').explorer"
TYPE = """(() => {{ const box = document.querySelector('.course-live textarea');
  box.value = {text!r}; box.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"""
SAID = "document.querySelector('.course-live-status').textContent"
PATIENCE = 20  # seconds
LOST = 5  # seconds after which a click that did nothing is taken for one that never reached the page


def comes_true(engine, expression: str, patience: float = PATIENCE) -> bool:
    """Whether an expression is true in the page before patience, in seconds, ends."""
    end = time.monotonic() + patience
    while not holds(engine, expression):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def holds(engine, expression: str) -> bool:
    """Whether an expression is true in the page, as far as is known: WebKit's driver loses an answer now and then."""
    try:
        return engine.evaluate(expression)
    except WebDriverException as error:
        if "Could not parse script result" not in str(error):
            raise
        return False


def click_until(engine, index: int, expression: str) -> None:
    """Press a button for what is shown, once more if nothing came of it: WebKit's driver loses a click, too."""
    engine.click(".course-live-share button", index)
    if not comes_true(engine, expression, LOST):
        engine.click(".course-live-share button", index)
        assert comes_true(engine, expression)


@pytest.mark.weekly
@torch.no_grad()
def test_the_live_model_is_pytorchs(engine, tmp_path):
    """Its logits and its weights on typed texts; nothing goes wrong there, nor with link and picture."""
    model, vocabulary = load_character_model()
    write_pages(tmp_path, [explore_model(model, vocabulary, "The for", alt="A model.")])
    with recording(tmp_path) as origin:
        engine.open(f"{origin}/light.html")
        engine.click("h1")  # it loads at the reader's first sign
        assert comes_true(engine, f"!!document.querySelector('.course-live') && !!{MODEL}")
        for text in ("The for", "x", "class Point: # 12345, and a longer text"):
            engine.evaluate(TYPE.format(text=text))
            read = f"{MODEL}.state.text === {text!r} && {MODEL}.sight.symbols.length === {len(text)}"
            assert comes_true(engine, read)
            symbols = torch.tensor([[vocabulary.index(character) for character in text]])
            logits, weights = model.double()(symbols, need_weights=True)
            for shown, expected in (("sight.lenses.at(-1)", logits.flatten()), ("weights", weights[-1][0])):
                numbers, most = engine.evaluate(f"Array.from({MODEL}.{shown})"), expected.abs().max().item()
                np.testing.assert_allclose(numbers, expected, rtol=0, atol=1e-4 * most)
        copied = f"{SAID} === 'Link copied.' || document.activeElement.value.includes('#live=class+Point')"
        click_until(engine, 0, copied)
        click_until(engine, 1, f"{SAID} === 'Picture saved.'")
        assert engine.evaluate("window.courseErrors") == []
