"""The live translator on a page, and the model beside it in Python."""

import live_models
import numpy as np
import pytest
import torch

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.tasks.translation import ENGLISH, VOCABULARY

TEXT, OTHER, LIMIT = "the black cat does not love a small bee.", "these white geese never see my house.", 13
INTACT = {"heads": [[], []], "encoder": [], "decoder": []}


@pytest.fixture(scope="module")
def model():
    """Not trained, but as unequal as if it were; it never ends a sentence of itself."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
        model.lm_head.bias[1] = -100
    return model.half().double().eval()


@pytest.fixture
def open_translator(show, model):
    """A function that opens a page with the translator, once it has written."""

    def open_translator(**options):
        page = show(make(model), **options)
        return page, Live(page)

    return open_translator


def make(model, text=TEXT):
    options = {"alt": "A translator.", "limit": LIMIT, "source_words": [*ENGLISH, "."]}
    return explore_model(model, VOCABULARY, text, examples=[OTHER], **options)


class Live(live_models.Live):
    def __init__(self, page):
        super().__init__(page, "Your sentence")
        self.written = page.locator(".course-live-written button")
        self.fault = page.locator(".course-live-fault")
        self.said = page.locator(".course-live-said")
        self.wait_for(writing=False)

    def logits(self):
        """Those on show, a row for each word."""
        lens = self.view.evaluate("view => Array.from(view.explorer.sight.logits)")
        return np.reshape(lens, (-1, len(VOCABULARY)))


def encode(text):
    return [VOCABULARY.index(word) for word in text.replace(".", " .").split()]


@torch.no_grad()
def run(model, source, written):
    """Logits and cross-attention weights `(blocks, heads, words, source)`."""
    logits, weights = model(torch.tensor([source]), torch.tensor([written]), need_weights=True)
    return logits[0], torch.stack(weights)[:, 0]


def tell(share):
    """As the page writes a probability that is not tiny."""
    assert share > 1e-8
    return f"{float(f'{100 * share:.3g}'):.12f}".rstrip("0").rstrip(".") + "%"


def is_focused(button):
    return button.evaluate("button => button === document.activeElement")
