"""What a character looks at, on the text itself: its weights beside PyTorch's, the sentence, and who can reach it."""

import numpy as np
import pytest
import torch
from explorer_pages import pass_frames
from live_models import TEXT, Live, encode, make_model

TINTS = ".course-live-tokens button"


@pytest.fixture(scope="module")
def weights(trained):
    """Of every block and head on the first text, `(blocks, heads, n, n)`."""
    model, vocabulary = trained
    with torch.no_grad():
        _, weights = model(encode(TEXT, vocabulary), need_weights=True)
    return torch.cat(weights).numpy()


def tints(page):
    return page.locator(TINTS).evaluate_all("all => all.map((one) => Number(one.style.getPropertyValue('--weight')))")


def tell(row, query, where):
    """The sentence, from a row of weights."""
    best = [key for key in np.argsort(-row, kind="stable")[:3] if row[key] >= 0.005]
    names = TEXT.replace(" ", "␣")
    keys = [f"“{names[key]}” ({query - key}\u00a0back)" if key < query else "itself" for key in best]
    shares = ", ".join(f"{name}\u00a0{100 * row[key]:.0f}%" for name, key in zip(keys, best, strict=True))
    return f"{where} “{names[query]}” looks at {shares}."


def test_the_text_is_tinted_by_the_weights_of_the_chosen_head(open_model, weights):
    """Head by head and block by block, by a tap and by arrows; of several heads the mean."""
    page, live = open_model()
    said = page.locator(".course-live-looks")
    last = len(TEXT) - 1
    mean = weights[2].mean(0)
    np.testing.assert_allclose(tints(page), mean[last], rtol=0, atol=1e-4)
    assert said.inner_text() == tell(mean[last], last, "On average over the heads of block 3,")
    page.get_by_role("radio", name="head 3").check()
    page.locator(TINTS).nth(9).click()
    np.testing.assert_allclose(tints(page), weights[2, 2, 9], rtol=0, atol=1e-4)
    assert said.inner_text() == tell(weights[2, 2, 9], 9, "In block 3, head 3,")
    page.keyboard.press("ArrowRight")
    assert said.inner_text() == tell(weights[2, 2, 10], 10, "In block 3, head 3,")
    page.get_by_role("radio", name="block 3").focus()
    page.keyboard.press("ArrowLeft")
    np.testing.assert_allclose(tints(page), weights[1, 2, 10], rtol=0, atol=1e-4)
    assert said.inner_text() == tell(weights[1, 2, 10], 10, "In block 2, head 3,")
    page.get_by_role("radio", name="all blocks").check()
    assert said.inner_text() == tell(weights[:, 2].mean(0)[10], 10, "On average over head 3 of each block,")
    page.get_by_role("radio", name="all heads").check()
    np.testing.assert_allclose(tints(page), weights.mean((0, 1))[10], rtol=0, atol=1e-4)
    assert said.inner_text() == tell(weights.mean((0, 1))[10], 10, "On average over all heads,")
    later = page.locator(".course-live-later")
    assert later.count() == last - 10  # what it has not read
    live.check("mask: hide the future")
    assert later.count() == 0
    assert page.errors == []


def test_what_has_no_weight_is_not_told(open_model):
    """Of one head, of the maps for who cannot see them, and of what the model would say next."""
    page, live = open_model()
    page.locator(TINTS).first.click()  # which sees only itself
    live.wait_for(selected=0)
    maps = live.view.locator("figure canvas")
    said = maps.evaluate_all("all => all.map((one) => one.ariaLabel.split(': ')[1])")
    assert said == ["“R” (character 1) looks at “R” (character 1) 1.00."] * 4
    page.get_by_role("radio", name="head 1").check()
    assert maps.locator("xpath=../../following-sibling::p").inner_text() == said[0]
    page.locator(TINTS).nth(4).click()
    assert page.locator(".course-live-follow .course-live-says").last.inner_text() == "“n”\u00a0100%"


def test_the_sentence_is_heard(open_model):
    """After a choice by keys, with words for characters that have no look."""
    page, _ = open_model(clock=True)
    page.clock.run_for(900)  # nothing is said of the page as it opens
    page.get_by_role("radio", name="head 3").check()
    page.locator(TINTS).nth(6).click()
    page.keyboard.press("ArrowRight")
    said = page.locator(".course-live-said", has_text="In block 3, head 3, “t” looks at ")
    said.wait_for(state="attached")
    page.keyboard.press("ArrowLeft")
    page.locator(".course-live-said", has_text="In block 3, head 3, “space” looks at ").wait_for(state="attached")


@pytest.mark.parametrize("head", [(3, 3), None])
def test_the_first_state_says_what_the_model_then_says(show, trained, head):
    """Without JavaScript the same head's sentence, and the text with the same tints."""
    explorer = make_model(trained, head=head)
    page = show(explorer, java_script_enabled=False)
    first = page.locator(".course-explorer-first")
    sentence = first.locator("p").first.inner_text()
    texts = first.locator("svg text").all_text_contents()
    filled = [float(rect.get_attribute("height")) / 30 for rect in first.locator("svg rect[fill-opacity]").all()]
    assert "".join(texts) == TEXT.replace(" ", "␣")
    page = show(explorer)
    live = Live(page)
    assert page.locator(".course-live-looks").inner_text() == sentence
    np.testing.assert_allclose(tints(page), filled, rtol=0, atol=0.05 / 30 + 1e-4)
    assert (live.state["block"], live.state["head"]) == (head or (3, 0))


def test_a_head_that_is_off_is_told_and_a_block_that_is_off_has_none(open_model):
    """Their boxes are empty until it is back, and then as they were."""
    page, live = open_model()
    page.get_by_role("radio", name="block 2").check()
    page.get_by_role("radio", name="head 2").check()
    live.check("head 2", 1)
    assert page.locator(".course-live-looks").inner_text().startswith("In block 2, head 2, which is off, ")
    heads = page.locator("[aria-label='block 2'] input")
    live.check("block 2")
    boxes = "all => all.map((one) => [one.checked, one.disabled])"
    assert heads.evaluate_all(boxes) == [[False, False], *[[False, True]] * 4]
    live.check("block 2")
    assert heads.evaluate_all(boxes) == [[on, False] for on in (True, True, False, True, True)]


def test_maps_without_a_mask_show_where_a_character_looks_at_itself(show, two_models):
    """A line; and the words say what the model that was trained so has learned to read."""
    page = show(two_models)
    live = Live(page)
    legend = page.locator("summary:has-text('attention weights') + div .course-live-note")
    gold = """() => Array.from(document.querySelectorAll(".course-live figure canvas"), (canvas) => {
      const [pen, at] = [canvas.getContext("2d"), Math.round(canvas.width / 2)];
      const [red, , blue] = pen.getImageData(at, at, 1, 1).data;
      return red > blue + 60;
    })"""
    assert "line" not in legend.inner_text() and page.evaluate(gold) == [False] * 4
    live.check("mask: hide the future")
    assert "On the line, a character looks at itself." in legend.inner_text()
    assert page.evaluate(gold) == [True] * 4
    live.choose_unmasked()
    assert "right of the line. After the last there is none." in legend.inner_text()


def test_below_the_last_row_of_a_map_nothing_is_chosen(open_model):
    """A map is a little higher than its rows."""
    page, live = open_model()
    page.get_by_role("radio", name="block 1").check()
    page.get_by_role("radio", name="head 1").check()
    canvas = live.view.locator("figure canvas").first
    live.view.locator(".course-live-tokens button").nth(2).click()
    live.wait_for(selected=2)
    height = canvas.evaluate("canvas => canvas.clientHeight")
    canvas.click(position={"x": 40, "y": height - 1})
    pass_frames(page)
    assert live.state["selected"] == 2
