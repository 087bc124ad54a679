"""How the live translator writes: word by word, to the end, and with another word put in."""

import copy

import numpy as np
import pytest
import torch
from explorer_pages import pass_frames
from live_translators import LIMIT, TEXT, Live, encode, is_focused, make, run
from playwright.sync_api import expect

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.tasks.translation import VOCABULARY


def test_a_chosen_word_shows_where_the_model_looked(open_translator, model):
    """By a click and by keys: three lines from the word, to the largest weights; one from each other in one row."""
    page, live = open_translator()
    source, written = encode(TEXT), live.state["written"]
    weights = run(model, source, written)[1]
    live.written.nth(5).click()
    page.keyboard.press("ArrowRight")
    live.wait_for(selected=6)
    lines = page.locator(".course-live-rows line")
    assert lines.count() == 3  # both sentences take two rows: others would run behind words
    mean = weights[1, :, 6].mean(0)
    for block, head, row in (("block 1", "head 3", weights[0, 2, 6]), ("block 2", "all heads", mean)):
        page.get_by_role("radio", name=block).check()
        page.get_by_role("radio", name=head).check()
        pass_frames(page)
        best = row.topk(3)
        words = page.locator(".course-live-row span")
        for line, place, weight in zip(lines.all()[-3:], best.indices.tolist(), best.values.tolist(), strict=True):
            middle = words.nth(place).evaluate("word => word.offsetLeft + word.offsetWidth / 2")
            assert float(line.get_attribute("x1")) == pytest.approx(middle, abs=1)
            assert float(line.get_attribute("stroke-width")) == pytest.approx(1 + 5 * weight, abs=0.01)
    middle = live.written.nth(6).evaluate("word => word.offsetLeft + word.offsetWidth / 2")
    assert float(lines.last.get_attribute("x2")) == pytest.approx(middle, abs=1)
    assert "computed from the word before" in page.locator(".course-live-section").nth(1).inner_text()
    live.text.fill("a cat")
    live.wait_for(source=encode("a cat"), writing=False)
    page.get_by_role("button", name="Take all back").click()
    for count in (1, 2, 3):
        page.get_by_role("button", name="Write one word").click()
        live.wait_for(writing=False, selected=count - 1)
    assert lines.count() == 2 + 2  # the chosen word's, to each of two words, and one from each other


# Keeps the lines of the picture, which is drawn twice.
LINES = """() => {
  const { lineTo } = CanvasRenderingContext2D.prototype;
  window.lines = [];
  CanvasRenderingContext2D.prototype.lineTo = function (...to) {
    if (!this.canvas.isConnected) window.lines.push(this.lineWidth);
    lineTo.apply(this, to);
  };
}"""


def test_what_has_no_weight_is_neither_drawn_nor_told(show, model):
    """Where each head looks at one word alone: on the page, in words, and in the picture."""
    sharp = copy.deepcopy(model)
    with torch.no_grad():
        sharp.decoder.blocks[1].cross_attention.query_proj.weight *= 60
    page = show(make(sharp), clock=True)
    live = Live(page)
    page.get_by_role("radio", name="head 1").check()
    row = run(sharp, encode(TEXT), live.state["written"])[1][1, 0]
    place = int(row.max(-1).values.argmax())
    seen = int(row[place].argmax())
    assert row[place, seen] > 0.999
    page.clock.run_for(1000)
    live.written.nth(place).click()
    live.wait_for(selected=place)
    assert page.locator(".course-live-rows line").count() == 1
    word, read = VOCABULARY[live.state["written"][place]], VOCABULARY[encode(TEXT)[seen]]
    expect(live.said).to_contain_text(f"For “{word}” the model looked at “{read}” 1.00.")
    page.evaluate(LINES)
    with page.expect_download():
        page.get_by_role("button", name="Save as picture").click()
    assert page.evaluate("window.lines") == pytest.approx([6, 6], abs=0.01)


def test_writing_and_taking_back(open_translator, model):
    """One word, all of them, one less, none; by the keyboard too."""
    page, live = open_translator()
    full = live.state["written"]
    button = {name: page.get_by_role("button", name=name, exact=True) for name in ("Write all", "Take all back")}
    assert button["Write all"].is_disabled()
    page.get_by_role("button", name="Take back", exact=True).click()
    live.wait_for(written=full[:-1])
    button["Take all back"].focus()
    page.keyboard.press("Enter")
    live.wait_for(written=[], selected=0)
    assert is_focused(button["Take all back"])
    assert live.cost.inner_text() == "Nothing is written yet."
    assert live.written.all_inner_texts() == ["…"] and button["Take all back"].is_disabled()
    page.get_by_role("button", name="Write one word").focus()
    for count in (1, 2):
        page.keyboard.press("Enter")
        live.wait_for(written=full[:count], writing=False, selected=count - 1)
    logits = run(model, encode(TEXT), full[:3])[0]
    np.testing.assert_allclose(live.logits(), logits, rtol=0, atol=1e-4 * logits.abs().max().item())
    button["Write all"].focus()
    page.keyboard.press("Enter")
    live.wait_for(written=full, writing=False)
    assert is_focused(button["Write all"])


def test_a_sentence_ends_where_the_model_ends_it(show, model):
    """At the period, as `cut_after` does, and never behind it."""
    ending = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    ending.load_state_dict(model.state_dict())
    written = model.generate(torch.tensor([encode(TEXT)]), LIMIT)[0].tolist()
    with torch.no_grad():
        logits = run(model, encode(TEXT), written)[0]
        gap = logits.max(-1).values - logits[:, 1]
        ending.lm_head.bias[1] += gap.sort().values[3].item() + 0.01
    expected = ending.double().half().double().generate(torch.tensor([encode(TEXT)]), LIMIT)[0].tolist()
    assert 1 in expected[:-1]
    live = Live(show(make(ending)))
    assert live.state["written"] == expected[: expected.index(1) + 1]
    assert live.page.get_by_role("button", name="Write one word").is_disabled()


def test_another_word_changes_what_follows(open_translator, model):
    """It stands where the reader puts it, and the model goes on greedily from there."""
    page, live = open_translator()
    source, full = encode(TEXT), live.state["written"]
    live.written.nth(2).click()
    items = page.locator(".course-live-instead button")
    assert items.count() == len(VOCABULARY)
    shares, order = run(model, source, full)[0][2].softmax(-1).sort(descending=True)
    for place in (0, 7, 160):
        assert items.nth(place).locator("span").inner_text() == VOCABULARY[order[place]]
        told = "<0.1%" if shares[place] < 0.0005 else f"{100 * shares[place].item():.1f}%"
        assert items.nth(place).locator("b").inner_text() == told
    assert items.first.get_attribute("aria-pressed") == "true"
    items.nth(7).click()
    expected = full[:2] + [order[7].item()]
    while len(expected) < LIMIT:
        expected.append(run(model, source, [*expected, 0])[0][-1].argmax().item())
    live.wait_for(written=expected, forced=[2], selected=2, writing=False)
    assert "chosen by you" in live.written.nth(2).get_attribute("aria-label")
    page.get_by_role("button", name="Take all back").click()
    page.get_by_role("button", name="Write all").click()
    live.wait_for(written=full, forced=[], writing=False)


def test_a_word_with_a_capital_can_be_found(show, model):
    words = [word.capitalize() for word in VOCABULARY]
    page = show(explore_model(model, words, "The Cat.", alt="A translator.", limit=LIMIT))
    Live(page)
    items = page.locator(".course-live-instead button:visible span")
    for typed in ("vach", "VACH"):
        page.get_by_label("find a word").fill(typed)
        assert sorted(items.all_inner_texts()) == ["Vache", "Vaches"]


def test_a_word_can_be_found(open_translator):
    """By a part of it; by arrows in both directions, from one tab stop; another place begins at its likeliest."""
    page, live = open_translator()
    items = page.locator(".course-live-instead button:visible")
    find = page.get_by_label("find a word")
    find.fill("vach")
    assert sorted(items.locator("span").all_inner_texts()) == ["vache", "vaches"]
    items.first.click()
    chosen = live.wait_for(writing=False, forced=[live.state["selected"]])
    assert VOCABULARY[chosen["written"][chosen["selected"]]].startswith("vache")
    live.written.nth(5).click()
    assert find.input_value() == "" and items.count() == len(VOCABULARY)
    stops = page.locator(".course-live-instead button[tabindex='0']")
    columns = items.evaluate_all("all => all.filter((one) => one.offsetTop === all[0].offsetTop).length")
    assert columns > 1
    items.first.focus()
    for key, place in (("ArrowDown", columns), ("ArrowRight", columns + 1), ("ArrowUp", 1), ("Home", 0), ("End", -1)):
        page.keyboard.press(key)
        assert is_focused(items.nth(place))
        assert stops.count() == 1 and is_focused(stops)
    page.locator(".course-live-instead").evaluate("list => list.scrollTop = 100")
    live.written.nth(2).click()
    assert items.first.get_attribute("tabindex") == "0"
    assert page.locator(".course-live-instead").evaluate("list => list.scrollTop") == 0
    assert page.locator(".course-live-words button[tabindex='0']").all_inner_texts() == ["clear the sentence"]
