"""The live translator computes in Firefox and in WebKit what PyTorch computes."""

import numpy as np
import torch
from explorer_pages import write_pages
from recording import recording
from waiting import click_until, wait_for

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.tasks.translation import VOCABULARY

VIEW = "document.querySelector('.course-live').explorer"
TYPE = """(() => {{ const input = document.querySelector('.course-live input[type=text]'); input.value = {text!r};
  input.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"""
LIMIT = 9


@torch.no_grad()
def test_the_live_translator_is_pytorchs(engine, tmp_path):
    """Its words, logits and weights for sentences that are typed; then a word that is forced."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    for parameter in model.parameters():
        parameter.add_(0.15 * torch.randn_like(parameter))
    model.logits.bias[1] = -100  # so that it writes until the limit
    model = model.half().double().eval()
    write_pages(tmp_path, [explore_model(model, VOCABULARY, "a cat.", alt="A translator.", limit=LIMIT)])
    with recording(tmp_path) as origin:
        engine.open(f"{origin}/light.html")
        engine.click("h1")  # the model loads at the reader's first sign
        wait_for(engine, f"!!document.querySelector('.course-live') && !!{VIEW}")
        for text in ("the black cat sees a dog.", "bee"):
            engine.evaluate(TYPE.format(text=text))
            source = torch.tensor([[VOCABULARY.index(word) for word in text.replace(".", " .").split()]])
            written = model.generate(source, LIMIT)
            assert_shown(engine, model, source, written)
        rewritten = f"{VIEW}.state.forced.length === 1 && !{VIEW}.state.writing"
        click_until(engine, ".course-live-instead button", 5, rewritten)
        forced = torch.tensor([engine.evaluate(f"{VIEW}.state.written")])
        assert (forced[:, 0] == written[:, 0]).all() and forced[0, 1] != written[0, 1]
        assert_shown(engine, model, source, forced)
        logits, _ = model(source, forced)
        assert (logits[0, 2:].argmax(-1) == forced[0, 2:]).all()
        assert engine.evaluate("window.courseErrors") == []


def assert_shown(engine, model, source, written):
    """To 1e-4 of the largest, once these words are written."""
    words = ",".join(map(str, written[0].tolist()))
    asked = ",".join(map(str, source[0].tolist()))
    wait_for(engine, f"{VIEW}.state.written.join() === '{words}' && {VIEW}.state.source.join() === '{asked}'")
    wait_for(engine, f"!{VIEW}.state.writing && {VIEW}.sight.logits.length === {written.numel() * len(VOCABULARY)}")
    logits, weights = model(source, written, need_weights=True)
    shown = engine.evaluate(f"Array.from({VIEW}.sight.logits)")
    np.testing.assert_allclose(shown, logits.flatten(), rtol=0, atol=1e-4 * logits.abs().max().item())
    np.testing.assert_allclose(engine.evaluate(f"{VIEW}.weights"), weights[-1][0], rtol=0, atol=1e-4)
