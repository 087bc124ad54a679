"""The live translator: its numbers beside PyTorch's, and what a reader can do with it."""

import numpy as np
import pytest
import torch
from choosing import weekly
from live_translators import INTACT, LIMIT, OTHER, TEXT, encode, run, tell
from playwright.sync_api import expect
from visits import run_axe

from attention_course.tasks.translation import VOCABULARY


@pytest.mark.parametrize("from_folder", [False, weekly(True)])
def test_what_is_shown_is_pytorchs(open_translator, model, from_folder):
    """Greedy words, logits and weights, from the worker on a server and from the page itself in a folder."""
    page, live = open_translator(from_folder=from_folder)
    for text in (TEXT, "cat", OTHER):
        source = encode(text)
        live.text.fill(text)
        written = model.generate(torch.tensor([source]), LIMIT)[0].tolist()
        live.wait_for(source=source, written=written, writing=False)
        logits, weights = run(model, source, written)
        np.testing.assert_allclose(live.logits(), logits, rtol=0, atol=1e-4 * logits.abs().max().item())
        np.testing.assert_allclose(live.weights, weights[-1], rtol=0, atol=1e-4)
    looks = live.view.evaluate("view => view.explorer.looks")
    np.testing.assert_allclose(looks, weights[-1].mean(0), rtol=0, atol=1e-4)
    page.get_by_role("radio", name="all blocks").check()
    np.testing.assert_allclose(live.weights, weights.flatten(0, 1), rtol=0, atol=1e-4)
    assert len(page.workers) == (0 if from_folder else 1)
    assert page.errors == []
    assert all(url.startswith(("file:", "http://127.0.0.1", "data:")) for url in page.requests)


def test_unknown_words_and_long_sentences_are_said(open_translator):
    """They change nothing; French words are not read; capitals and quotes are; words can be chosen from a list."""
    page, live = open_translator()
    count = page.locator(".course-live-text p").first
    source = encode(TEXT)
    for wrong, said in (("the zebra sees a chat.", "“zebra”, “chat”:"), ("cat " * 14, "too long"), ("", "one word")):
        live.text.fill(wrong)
        assert said in live.fault.inner_text()
        assert live.text.get_attribute("aria-invalid") == "true"
        assert live.state["source"] == source
    assert live.text.get_attribute("aria-describedby") == live.fault.get_attribute("id")
    live.text.fill("The “cat” sees " + "cat " * 10)
    assert count.inner_text() == "13 of 13 words. The sentences it has read end with “.”."
    assert live.fault.inner_text() == ""
    live.wait_for(source=encode("the cat sees " + "cat " * 10), writing=False)
    page.get_by_role("button", name="clear the sentence").click()
    for word in ("a", "bee", "."):
        page.locator(".course-live-words").get_by_role("button", name=word, exact=True).click()
    assert count.inner_text() == f"3 of {LIMIT} words."
    live.wait_for(source=encode("a bee ."), writing=False)
    page.locator(".course-live-words").get_by_role("button", name="often", exact=True).click()
    assert live.text.input_value() == "a bee often."
    menu = page.get_by_label("or try")
    for _ in range(2):  # the same one twice
        menu.select_option(label=OTHER)
        live.wait_for(source=encode(OTHER), writing=False)
        live.text.fill("a bee.")
        assert menu.evaluate("menu => menu.selectedIndex") == 0


def test_faults_are_short_and_can_be_seen(open_translator):
    """However many words are unknown, however long, and where they have no shape or turn the direction of writing.

    An iPhone zooms into letters below 16 px.
    """
    page, live = open_translator(width="phone", has_touch=True, is_mobile=True)
    fields = page.locator(".course-live :is(input, select)")
    sizes = fields.evaluate_all("fields => fields.map((field) => parseFloat(getComputedStyle(field).fontSize))")
    assert len(sizes) > 5 and min(sizes) >= 16
    live.text.fill(" ".join(f"w{number}" for number in range(2000)))
    named = "“w0”, “w1”, “w2”, “w3”, “w4” and 1,995 others"
    assert live.fault.inner_text() == f"The model does not know {named}: nothing below has changed."
    live.text.fill("W" * 10_000)
    assert live.fault.inner_text() == f"The model does not know “{'W' * 30}…”: nothing below has changed."
    assert live.fault.evaluate("box => box.scrollWidth <= box.clientWidth")
    live.text.fill("c\u202ea \u200b")
    assert live.fault.locator("bdi").all_inner_texts() == ["cU+202Ea", "U+200B"]


def test_what_is_said(open_translator):
    """Nothing unasked; a fault alone, and once; then only what has changed."""
    page, live = open_translator(clock=True)
    page.clock.run_for(1000)
    assert live.said.inner_text() == ""
    written = " ".join(VOCABULARY[symbol] for symbol in live.state["written"])
    live.text.fill("zebra")
    expect(live.said).to_have_text("The model does not know “zebra”: nothing below has changed.")
    live.written.nth(4).click()
    expect(live.said).to_contain_text(f"For “{VOCABULARY[live.state['written'][4]]}” the model looked at")
    assert "zebra" not in live.said.inner_text() and written not in live.said.inner_text()
    live.text.fill(OTHER)
    live.wait_for(source=encode(OTHER), writing=False)
    other = " ".join(VOCABULARY[symbol] for symbol in live.state["written"])
    expect(live.said).to_contain_text(f"The translation is “{other}”.")
    assert page.locator("[role=status]:not(:empty)").count() == 0


def test_words_can_be_chosen_on_a_translated_page(open_translator):
    """A browser that translates puts what it wrote into elements of its own; the words of the model it leaves alone."""
    page, live = open_translator()
    kept = page.locator(".course-live-row, .course-live-words, .course-live-instead")
    assert kept.evaluate_all("boxes => boxes.map((box) => box.translate)") == [False] * 4
    live.written.nth(3).evaluate("""button => {
      const font = document.createElement("font");
      font.append(...button.childNodes);
      button.append(font);
    }""")
    live.written.nth(3).locator("font").click()
    live.wait_for(selected=3)


def test_what_is_taken_out_is_told_with_its_cost(open_translator):
    """Heads of the cross-attention, an encoder and a decoder block; what is written stays. (What comes of it: Node.)"""
    page, live = open_translator()
    page.get_by_role("button", name="Take all back").click()
    for count in (1, 2, 3):
        page.get_by_role("button", name="Write one word").click()
        live.wait_for(writing=False, selected=count - 1)
    written = live.state["written"]

    def probability():
        return torch.tensor(live.logits()).softmax(-1)[range(3), written].prod().item()

    intact = probability()
    assert live.cost.inner_text() == f"The model gives these words, together, a probability of {tell(intact)}."
    expected = dict(INTACT)
    for group, name, changed in (
        ("decoder block 2", "head 1", {"heads": [[], [0]]}),
        ("decoder block 2", "head 3", {"heads": [[], [0, 2]]}),
        ("encoder", "encoder block 2", {"encoder": [1]}),
        ("decoder block 1", "decoder block 1", {"decoder": [0]}),
    ):
        page.get_by_role("group", name=group).get_by_role("checkbox", name=name, exact=True).click()
        expected |= changed
        live.wait_for(changes=expected, written=written)
        now = probability()
        told = f"{tell(now)}; as it was trained, {tell(intact)}."
        assert now != intact and live.cost.inner_text().endswith(f"a probability of {told}")
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)


def test_accessible_and_within_the_page(open_translator, scheme, width):
    """Axe finds nothing; nothing is wider than the screen, whatever is shown."""
    page, live = open_translator(scheme=scheme, width=width)
    page.get_by_role("radio", name="all blocks").check()
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []
