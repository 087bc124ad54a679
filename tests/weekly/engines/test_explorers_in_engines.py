"""Explorers compute in Firefox and in WebKit what PyTorch computes, as they do in Chromium."""

from contextlib import contextmanager

import numpy as np
import torch
import torch.nn.functional as F
from explorer_pages import write_pages
from recording import recording
from waiting import click_until, wait_for

from attention_course.checkpoints import load_character_model
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_attention, explore_model, explore_state
from attention_course.explore.state import read_state
from attention_course.tasks.translation import VOCABULARY

VIEW = "document.querySelector('.course-explorer-view')"
MODEL = "document.querySelector('.course-live').explorer"
TYPE = """(() => {{ const box = document.querySelector('.course-live :is(textarea, input[type=text])');
  box.value = {text!r}; box.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"""
OPEN = "document.querySelectorAll('.course-live details').forEach((box) => { box.open = true; })"
NAMES, LETTERS = ["Ann", "Ben", "Cem"], "ABC"
PAIRS = [("Ann", "C"), ("Ben", "A"), ("Cem", "B"), ("Ann", "A")]


@contextmanager
def opened(engine, folder, explorer):
    """The page of an explorer, on which nothing goes wrong."""
    write_pages(folder, [explorer])
    with recording(folder) as origin:
        engine.open(f"{origin}/light.html")
        yield
        assert engine.evaluate("window.courseErrors") == []


def start_the_model(engine):
    """It loads at the reader's first sign."""
    engine.click("h1")
    wait_for(engine, f"!!document.querySelector('.course-live') && !!{MODEL}")


def assert_near(engine, expression, expected):
    """To 1e-4 of the largest."""
    shown = engine.evaluate(f"Array.from({MODEL}.{expression})")
    np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-4 * expected.abs().max().item())


@torch.no_grad()
def test_the_live_model_is_pytorchs(engine, tmp_path):
    """Its logits and its weights on typed texts, with the mask lifted too. Link and picture."""
    model, vocabulary = load_character_model()
    model = model.double()
    with opened(engine, tmp_path, explore_model(model, vocabulary, "The for", alt="A model.")):
        start_the_model(engine)
        texts = {"The for": True, "x": True, "class Point: # 12345, and a longer text": True, "x = 7": False}
        for text, masked in texts.items():
            engine.evaluate(TYPE.format(text=text))
            if not masked:
                engine.evaluate(OPEN)
                boxes = engine.evaluate("document.querySelectorAll('.course-live [type=checkbox]').length")
                engine.click(".course-live [type=checkbox]", boxes - 1)
            wait_for(engine, f"{MODEL}.state.text === {text!r} && {MODEL}.sight.symbols.length === {len(text)}")
            wait_for(engine, f"{MODEL}.sight.changes.masked === {str(masked).lower()}")
            symbols = torch.tensor([[vocabulary.index(character) for character in text]])
            mask = None if masked else torch.ones(len(text), len(text), dtype=torch.bool)
            logits, weights = model(symbols, mask, need_weights=True)
            assert_near(engine, "sight.lenses.at(-1)", logits.flatten())
            assert_near(engine, "weights", weights[-1][0])
        said = "document.querySelector('.course-live-status').textContent"
        copied = f"{said} === 'Link copied.' || document.activeElement.value.includes('#live=x+%3D+7')"
        click_until(engine, ".course-live-share button", 0, copied)
        click_until(engine, ".course-live-share button", 1, f"{said} === 'Picture saved.'")


@torch.no_grad()
def test_the_live_translator_is_pytorchs(engine, tmp_path):
    """Its words, logits and weights for sentences that are typed; then a word that is forced."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    for parameter in model.parameters():
        parameter.add_(0.15 * torch.randn_like(parameter))
    model.logits.bias[1] = -100  # so that it writes until the limit
    model = model.half().double().eval()

    def assert_shown(source, written):
        words, asked = (",".join(map(str, symbols[0].tolist())) for symbols in (written, source))
        wait_for(engine, f"{MODEL}.state.written.join() === '{words}' && {MODEL}.state.source.join() === '{asked}'")
        wait_for(
            engine, f"!{MODEL}.state.writing && {MODEL}.sight.logits.length === {written.numel() * len(VOCABULARY)}"
        )
        logits, weights = model(source, written, need_weights=True)
        assert_near(engine, "sight.logits", logits.flatten())
        assert_near(engine, "weights", weights[-1][0])
        return logits

    with opened(engine, tmp_path, explore_model(model, VOCABULARY, "a cat.", alt="A translator.", limit=9)):
        start_the_model(engine)
        for text in ("the black cat sees a dog.", "bee"):
            engine.evaluate(TYPE.format(text=text))
            source = torch.tensor([[VOCABULARY.index(word) for word in text.replace(".", " .").split()]])
            written = model.generate(source, 9)
            assert_shown(source, written)
        rewritten = f"{MODEL}.state.forced.length === 1 && !{MODEL}.state.writing"
        click_until(engine, ".course-live-instead button", 5, rewritten)
        forced = torch.tensor([engine.evaluate(f"{MODEL}.state.written")])
        assert (forced[:, 0] == written[:, 0]).all() and forced[0, 1] != written[0, 1]
        logits = assert_shown(source, forced)
        assert (logits[0, 2:].argmax(-1) == forced[0, 2:]).all()


def test_a_models_own_weights_are_shown(engine, tmp_path):
    """In the grid of all maps, then in the one that a click opens; and there is a picture to be saved."""
    weights = (torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(0)) * 3).softmax(-1)
    explorer = explore_attention(weights=weights, tokens=["[CLS]", *"abc", "##s"], alt="A model.")
    with opened(engine, tmp_path, explorer):
        np.testing.assert_allclose(engine.evaluate(f"{VIEW}.explorer.weights"), weights.flatten(0, 1), atol=1 / 8000)
        click_until(engine, ".course-explorer-grid canvas", 4, f"{VIEW}.explorer.weights.length === 1")
        np.testing.assert_allclose(engine.evaluate(f"{VIEW}.explorer.weights"), weights[1, 1:2], atol=1 / 8000)
        assert engine.evaluate(f"{VIEW}.explorer.picture().toDataURL().length") > 5000


def test_a_state_is_what_pytorch_computes(engine, tmp_path):
    """By both rules; and the sliders and the button move it."""
    keys = F.normalize(torch.randn(3, 2, generator=torch.Generator().manual_seed(0)), dim=-1)
    numbers = [(NAMES.index(name), LETTERS.index(letter)) for name, letter in PAIRS]
    with opened(engine, tmp_path, explore_state(NAMES, keys, PAIRS, LETTERS, alt="Four pairs.")):
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
        written = "getComputedStyle(document.querySelector('.course-state-new td:last-child')).backgroundColor"
        assert engine.evaluate(written) not in ("transparent", "rgba(0, 0, 0, 0)")  # the letter has a ground
