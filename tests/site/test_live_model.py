"""The live model: its numbers beside PyTorch's, and what a reader sees of them."""

import math
import re

import numpy as np
import pytest
import torch
from explorer_pages import pass_frames
from live_models import INTACT, LIMIT, TEXT, Live, encode
from visits import run_axe


@pytest.mark.parametrize("from_folder", [False, True])
def test_what_is_shown_is_pytorchs(open_model, trained, from_folder):
    """Logits and the weights on show, from the worker on a server and from the page itself in a folder."""
    model, vocabulary = trained
    page, live = open_model(from_folder=from_folder)
    for text in (TEXT, "x", "The for statement\n  is used"):
        live.text.fill(text)
        live.wait_for(text=text, selected=len(text) - 1)
        with torch.no_grad():
            logits, weights = model(encode(text, vocabulary), need_weights=True)
        largest = logits.abs().max().item()
        np.testing.assert_allclose(live.logits(len(text)), logits[0].numpy(), rtol=0, atol=1e-4 * largest)
        np.testing.assert_allclose(live.weights, weights[-1][0].numpy(), rtol=0, atol=1e-4)
    page.get_by_role("radio", name="all blocks").check()
    np.testing.assert_allclose(live.weights, torch.cat(weights)[:].flatten(0, 1).numpy(), rtol=0, atol=1e-4)
    assert len(page.workers) == (0 if from_folder else 1)
    assert page.errors == []
    assert all(url.startswith(("file:", "http://127.0.0.1", "data:")) for url in page.requests)


def told(cost):
    """How the live model says an average surprise in bits."""
    return f"On this text: {cost:.2f} bits a character"


def test_of_a_long_text_the_end_is_read(open_model, trained):
    """The box keeps what was pasted, and says so; nothing can be written behind it."""
    page, live = open_model()
    pasted = "é" * 7 + "class Point: " * 12
    live.text.fill(pasted)
    live.wait_for(text=pasted[-LIMIT:], typed=pasted, selected=LIMIT - 1)
    assert live.text.input_value() == pasted and live.text.get_attribute("aria-invalid") == "false"
    assert page.locator(".course-live-text [role=status]").inner_text() == f"The model reads the last {LIMIT}."
    assert page.locator(".course-live-tokens button").count() == LIMIT
    assert page.get_by_role("button", name="One character").is_disabled()
    live.text.fill("class")
    live.wait_for(text="class", typed="class")
    assert page.locator(".course-live-text [role=status]").inner_text() == ""
    assert page.errors == []


def test_unknown_characters_are_said(open_model):
    """They change nothing, and the text is left as it was typed."""
    page, live = open_model()
    for wrong, said in (("naïve é", "“\u2068ï\u2069”, “\u2068é\u2069”"), ("", "at least one")):
        live.text.fill(wrong)
        assert said in page.locator(".course-live-text [role=status]").inner_text()
        assert live.text.get_attribute("aria-invalid") == "true"
        assert live.text.input_value() == wrong
        live.wait_for(text=TEXT)
        assert page.get_by_role("button", name="One character").is_disabled()  # it would write over what was typed
    live.text.fill("".join(map(chr, range(0x4E00, 0x4E00 + 2000))) + "\u202e")
    told = page.locator(".course-live-text [role=status]")
    assert told.inner_text().endswith(f"and {LIMIT - 5} others: nothing below has changed.")
    assert told.bounding_box()["height"] < 100
    live.text.fill("\u202e\u200b")
    assert "“\u2068U+202E\u2069”, “\u2068U+200B\u2069”" in told.inner_text()
    assert live.text.get_attribute("aria-describedby") == told.get_attribute("id")
    live.text.fill("a" * LIMIT)
    live.wait_for(text="a" * LIMIT)
    assert "The box is full" in told.inner_text()
    assert live.text.get_attribute("aria-invalid") == "false"
    example = page.get_by_label("or try")
    for _ in range(2):  # the same one twice
        example.select_option(label="for x in range")
        live.wait_for(text="for x in range")
        live.text.fill("x")
        live.wait_for(text="x")
        assert example.evaluate("menu => menu.selectedOptions[0].label") == "your own text"


def test_the_distribution_is_that_of_the_token_that_is_followed(open_model, trained):
    """By a click and by keys; with the sliders; and the symbols that are cut have none of it."""
    model, vocabulary = trained
    page, live = open_model()
    tokens = page.locator(".course-live-tokens button")
    tokens.nth(7).click()
    page.keyboard.press("ArrowLeft")
    assert live.wait_for(selected=6)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert live.wait_for(selected=6)
    live.press("temperature", *["ArrowRight"] * 8)  # from 1
    live.press("top-k", "Home", *["ArrowRight"] * 9)
    live.press("top-p", *["ArrowLeft"] * 5)
    state = live.state
    assert state["topK"] == 10 and state["topP"] == 0.7 and state["temperature"] == pytest.approx(10 ** (8 / 93))
    with torch.no_grad():
        logits = model(encode(TEXT, vocabulary))[0][0, 6]
    shares, order = (logits / state["temperature"]).softmax(-1).sort(descending=True)
    kept = min(10, int((shares.cumsum(0) < 0.7).sum()) + 1)
    assert 1 < kept < 10  # both cuts could be seen
    rows = page.locator(".course-live-next li")
    assert rows.count() == len(vocabulary)
    for place in (0, kept - 1):
        shown = float(rows.nth(place).locator("b").inner_text().rstrip("%"))
        assert shown == pytest.approx(100 * (shares[place] / shares[:kept].sum()).item(), abs=0.051)
        assert rows.nth(place).locator("span").inner_text()[0] == vocabulary[order[place]].replace(" ", "␣")
    nexts = [text for text in rows.locator("span").all_inner_texts() if text.endswith(" ←")]
    assert nexts == [f"{TEXT[7].replace(' ', '␣')} ←"]
    with torch.no_grad():
        cost = -model(encode(TEXT, vocabulary))[0][0, 5].log_softmax(-1)[vocabulary.index(TEXT[6])] / math.log(2)
    assert f"itself cost {cost:.1f} bits. What" in page.locator(".course-live-next p").inner_text()
    assert "← marks the one in your text" in page.locator(".course-live-next p").inner_text()
    assert rows.nth(kept).locator("b").inner_text().startswith("cut")
    assert f"{kept} of {len(vocabulary)} characters" in page.locator(".course-live-next p").inner_text()


def test_what_is_taken_out_is_told_with_its_cost(open_model):
    """Heads, a block, the positions, the mask, each beside the intact model; then all back. (What it does: Node.)"""
    page, live = open_model()
    intact = live.bits()
    assert live.cost.inner_text() == f"{told(intact)}."
    beside = page.locator("details:has(> summary:text('Take something out')) .course-live-note")
    off = []
    for name, index, part in (
        ("head 2", 0, "block 1 head 2"),
        ("head 4", 2, "block 3 head 4"),
        ("positions", 0, "positions"),
        ("mask: hide the future", 0, "mask"),
    ):
        before = live.bits()
        live.check(name, index)
        off.append(part)
        cost = f"{told(live.bits())}; as the model was trained, {intact:.2f}."
        assert live.bits() != before and live.cost.inner_text() == f"{cost} Off: {', '.join(off)}."
        assert beside.inner_text().startswith(cost)  # on a phone the switches stand far below
    assert "has not learned what to do with later characters" in beside.inner_text()
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)
    live.check("block 2")
    assert live.cost.inner_text().endswith("Off: block 2.")
    live.check("block 2")
    assert live.cost.inner_text() == f"{told(intact)}."


def test_the_other_model_reads_the_same_text(show, two_models):
    """The one that was trained without the mask: nothing hidden, until the reader hides it."""
    page = show(two_models)
    live = Live(page)
    live.text.fill("another text")
    live.wait_for(text="another text")
    live.choose_unmasked()
    assert live.state["text"] == "another text" and len(live.state["changes"]["heads"]) == 2  # of two blocks
    assert live.cost.inner_text() == f"{told(live.bits())}." and live.bits() < 0.1 and live.weights[:, 0, 1:].any()
    live.check("mask: hide the future")
    assert live.cost.inner_text().startswith(told(live.bits())) and live.bits() > 5
    assert not live.weights[:, 0, 1:].any()
    assert len(page.workers) == 1 and page.locator(".course-live-tokens").count() == 1
    assert page.errors == []


def test_a_token_is_followed_through_the_blocks(open_model, trained):
    """What the model would say after each block, and the lengths of what is added."""
    model, vocabulary = trained
    page, live = open_model()
    page.locator(".course-live-tokens button").nth(9).click()
    streams = []

    def keep(_, inputs, output):
        streams.append(output[0][0, 9])

    hooks = [block.register_forward_hook(keep) for block in model.blocks]
    symbols = encode(TEXT, vocabulary)
    with torch.no_grad():
        model(symbols)
        streams.insert(0, model.embedding(symbols)[0, 9])
        rows = page.locator(".course-live-follow tbody tr")
        for row, stream in zip(rows.all(), streams, strict=True):
            share, symbol = model.lm_head(model.norm(stream)).softmax(-1).max(-1)
            told = vocabulary[symbol].replace(" ", "␣").replace("\n", "⏎")
            says = row.locator("td").nth(0).inner_text()
            assert re.fullmatch(r"(“.”\u00a0\d+%(, )?){3}", says)  # in quotes: a comma among others could not be read
            assert says.startswith(f"“{told}”\u00a0{round(100 * share.item())}%")
            assert float(row.locator("td").nth(2).inner_text()) == pytest.approx(stream.norm().item(), abs=0.051)
    for hook in hooks:
        hook.remove()


def test_accessible_and_within_the_page(open_model, scheme, width):
    """Axe finds nothing; nothing is wider than the screen, whatever is shown."""
    page, live = open_model(scheme=scheme, width=width)
    page.get_by_role("radio", name="all blocks").check()
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    over = page.locator(".course-live summary").evaluate_all(
        """all => all.map((name) => {
          const [inner, outer] = [name, name.parentElement].map((one) => one.getBoundingClientRect());
          return Math.max(outer.left - inner.left, inner.right - outer.right);
        })"""
    )
    assert len(over) == 5 and max(over) <= 0  # the names of folds stay within them
    page.set_viewport_size({"width": 320, "height": 700})
    pass_frames(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


def test_the_arrows_move_between_rows_of_characters(open_model):
    """To the nearest in the row below and back, as in the translator's lists; one of them is a stop of the keyboard."""
    page, live = open_model(width="phone")
    tokens = page.locator(".course-live-tokens button")
    columns = tokens.evaluate_all("all => all.filter((one) => one.offsetTop === all[0].offsetTop).length")
    tokens.nth(3).click()
    for key, token in (("ArrowDown", columns + 3), ("ArrowUp", 3), ("End", len(TEXT) - 1), ("Home", 0)):
        page.keyboard.press(key)
        assert live.state["selected"] == token
        assert tokens.nth(token).evaluate("one => one === document.activeElement")
        assert page.locator(".course-live-tokens button[tabindex='0']").count() == 1
