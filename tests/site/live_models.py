"""The live model on a page, and the model beside it in Python."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_pages import Mounted

from attention_course.course.checkpoints import load_character_model
from attention_course.explore import explore_model

TEXT = "Return the item of *d* with key "
LIMIT = 64
INTACT = {"heads": [[], [], []], "blocks": [], "positions": True, "masked": True, "means": False}


@pytest.fixture(scope="module")
def trained():
    """The recorded model in float64, and its vocabulary."""
    model, vocabulary = load_character_model()
    return model.double(), vocabulary


def make_model(trained, **options):
    return explore_model(*trained, TEXT, **{"alt": "A model.", "limit": LIMIT} | options)


@pytest.fixture(scope="module")
def one_model(trained):
    """The live model, with nothing else to choose."""
    return make_model(trained)


@pytest.fixture(scope="module")
def two_models(trained):
    """The live model beside the one that was trained without the mask."""
    return make_model(trained, alt="Two models.", unmasked=load_character_model("unmasked")[0])


@pytest.fixture
def open_model(show, trained):
    """A function that opens a page with the live model, once it has run."""

    def open_model(measured=(), **options):
        page = show(make_model(trained, examples=["for x in range"], measured=measured), **options)
        return page, Live(page)

    return open_model


class Live(Mounted):
    def __init__(self, page, label="Your text"):
        super().__init__(page)
        self.text = page.get_by_label(label)
        self.cost = page.locator(".course-live-cost")
        self.view.locator(".course-live-cost:not(:empty)").wait_for()
        self.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")

    def check(self, name, index=0):
        """Switch a part of the model, and wait for what it makes of the text."""
        before = self.state["changes"]
        self.page.get_by_role("checkbox", name=name, exact=True).nth(index).click()
        for _ in range(200):
            if self.state["changes"] != before:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{name} changed nothing")

    def choose_unmasked(self):
        self.page.locator(".course-live-choice select").select_option(label="trained without the mask")
        self.wait_for(model=1)

    def logits(self, n):
        """Those on show, `(n_tokens, n_symbols)`."""
        lens = self.view.evaluate("view => Array.from(view.explorer.sight.lenses.at(-1))")
        return np.reshape(lens, (n, -1))

    def bits(self):
        """Mean cost of each character but the first, by the logits on show."""
        symbols = self.view.evaluate("view => view.explorer.sight.symbols")
        logits = torch.tensor(self.logits(len(symbols)))
        return F.cross_entropy(logits[:-1], torch.tensor(symbols[1:])).item() / math.log(2)


def encode(text, vocabulary):
    return torch.tensor([[vocabulary.index(character) for character in text]])


class HighExplorer:
    """Something that stands above: more than a screen of it."""

    def _repr_html_(self):
        return '<svg width="10" height="2000" aria-hidden="true"></svg>'


def until(page, expression):
    """Wait, by questions from outside: the policy lets a page evaluate nothing."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never {expression}")


# Until what waits for the model to be seen has been told whether it is.
TOLD_OF_THE_MODEL = """() => new Promise((done) => {
  const told = () => requestAnimationFrame(() => requestAnimationFrame(() => done(null)));
  new IntersectionObserver(told).observe(document.querySelector(".course-live"));
})"""
NOTEBOOK = """<!doctype html><html lang="en"><title>A notebook</title>
<body><div id="here"></div><div id="another"></div>
<script type="module" src="start.mjs"></script></body></html>"""
START = """import view from "./view.mjs";
const data = await (await fetch("data.json")).json();
const show = (el) => view.render({ model: { get: () => data }, el });
window.leave = show(document.getElementById("here"));
window.showAnother = () => show(document.getElementById("another"));
"""


# Keeps what is drawn for a picture: its words or "map", where it ends at the right (0 where it begins elsewhere than at
# its left), and how opaque it is.
DRAWN = """() => {
  const { fillText, drawImage } = CanvasRenderingContext2D.prototype;
  window.drawn = [];
  Object.assign(CanvasRenderingContext2D.prototype, {
    fillText(text, x, ...rest) {
      const end = this.textAlign === "start" ? x + this.measureText(text).width : 0;
      if (!this.canvas.isConnected) window.drawn.push([text, end, this.globalAlpha]);
      fillText.call(this, text, x, ...rest);
    },
    drawImage(image, x, y, width, ...rest) {
      if (image.isConnected) window.drawn.push(["map", x + width, this.globalAlpha]);
      drawImage.call(this, image, x, y, width, ...rest);
    },
  });
}"""


def copied(page):
    """The link that the button hands out."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this").click()
    page.locator(".course-live-status", has_text="Link copied.").wait_for()
    return page.evaluate("navigator.clipboard.readText()")
