"""Explorers as the site mounts them: in a real browser, from a strict server."""

import numpy as np
import pytest
import torch
from bare_page import bundle, bundle_live
from built_site import WIDTHS
from explorer_pages import Mounted
from explorer_samples import every_explorer, pytorch_weights
from visits import run_axe

from attention_course.explore import explore_attention
from attention_course.explore.explorer import VIEWS

pytestmark = pytest.mark.usefixtures("close_figures")
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&amp; \u2028"]


def test_rows_light_up_for_mouse_keyboard_and_finger(show):
    """The weights of the query under the pointer, under focus or under a finger stand there as numbers."""
    scores = torch.randn(1, 5, 6)
    expected = pytorch_weights(scores, 1.0, "none", 6)[0]
    shown = explore_attention(scores, tokens="vwxyz", keys="abcdef", query=3, alt="Random.")
    explorer = Mounted(show(shown, has_touch=True))
    tokens = explorer.view.locator(".course-explorer-queries button")
    canvas = explorer.view.locator("canvas").first
    height = canvas.bounding_box()["height"]

    def row_is(query):
        assert explorer.state["query"] == query
        assert tokens.nth(query).get_attribute("aria-pressed") == "true"
        assert explorer.row() == pytest.approx(expected[query].tolist(), abs=5e-4)

    row_is(3)  # the first may be chosen
    explorer.control("mask").focus()
    explorer.page.keyboard.press("Tab")  # one stop for all tokens, however many
    assert explorer.page.evaluate("document.activeElement.textContent") == "y"
    explorer.page.keyboard.press("Tab")
    assert explorer.page.evaluate("document.activeElement.closest('.course-explorer-queries')") is None
    tokens.nth(2).hover()
    row_is(2)
    tokens.nth(2).focus()
    tokens.nth(2).press("ArrowDown")
    row_is(3)
    tokens.nth(3).press("End")
    row_is(4)
    tokens.nth(4).press("Home")
    row_is(0)
    canvas.hover(position={"x": 150, "y": height - 10})
    row_is(4)
    canvas.tap(position={"x": 150, "y": height / 2})
    assert explorer.state["query"] in (1, 2)
    best = "abcdef"[int(expected[explorer.state["query"]].argmax())]
    explorer.page.get_by_text(f"attends to “{best}”").wait_for()


def test_tokens_are_text(show):
    """Markup in a token is shown as it was written, and nothing of it runs."""
    tokens = [token.replace("\u2028", "-") for token in HOSTILE]
    page = show(explore_attention(torch.randn(3, 3), tokens, alt=HOSTILE[1]))
    explorer = Mounted(page)
    assert explorer.view.locator(".course-explorer-queries button").all_inner_texts() == tokens
    assert explorer.view.locator(".course-explorer-row span").all_inner_texts() == tokens
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2  # ours, and the data
    assert page.errors == []


def test_ramp_is_told_apart_without_colour(show, scheme):
    """From weight 0 to 1 the luminance goes one way only, so the map reads in grey too."""
    explorer = Mounted(
        show(explore_attention([[np.log(w) for w in (0.01, 0.05, 0.14, 0.3, 0.5)]], alt="Growing."), scheme=scheme)
    )
    middles = explorer.view.locator("canvas").first.evaluate(
        """canvas => {
          const pen = canvas.getContext("2d");
          const cell = (canvas.width - 10) / 5;
          return [0, 1, 2, 3, 4].map((i) => {
            const [r, g, b] = pen.getImageData(canvas.width - 2 - (4.75 - i) * cell, canvas.height - 12, 1, 1).data;
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          });
        }"""
    )
    steps = np.diff(middles) * (-1 if scheme == "light" else 1)
    assert (steps > 4).all()


def test_a_page_of_all_kinds_has_no_fault(show, scheme, width):
    """No error, nothing refused under a strict policy, no request to anyone else; accessible, and within the page."""
    page = show(*every_explorer(), scheme=scheme, width=width)
    origin = page.url.rsplit("/", 1)[0]
    assert [url for url in page.requests if not url.startswith(origin)] == []
    assert page.locator(".course-explorer-view").count() == 4
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    wide = page.evaluate(
        """[...document.querySelectorAll(".course-explorer *")]
           .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 100))"""
    )
    assert wide == []
    for box in page.locator(".course-explorer :is(select, input[type=range], .course-explorer-play)").all():
        size = box.bounding_box()
        assert size["width"] >= 24 and size["height"] >= 24  # for a finger, as WCAG 2.2 asks
    assert page.errors == []


def test_long_tokens_do_not_push_a_phone_sideways(show):
    """They are cut short, and stay readable to a screen reader."""
    tokens = ["short", "a token of a length that no tokenizer would ever make of a word", "ok"]
    page = show(explore_attention(torch.randn(3, 3), tokens, alt="Random."), width="phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert Mounted(page).view.get_by_role("button", name=tokens[1]).count() == 1


def test_without_scripts_the_first_state_is_there(show):
    """A map, maps, a picture and a captioned picture; and no control that would do nothing."""
    page = show(*every_explorer(), java_script_enabled=False)
    firsts = page.locator(".course-explorer-first")
    assert [first.locator("svg, img").is_visible() for first in firsts.all()] == [True] * 4
    names = [first.locator("svg, img").get_attribute("aria-label") for first in firsts.all()[:2]]
    assert names == ["Four heads on ten words.", "One head and four."]
    assert firsts.nth(3).locator("p").inner_text() == "First."
    assert page.locator("input, select, button").count() == 0


def test_prints_the_state_without_the_buttons(show):
    """On paper a play button is no use, and no explorer is torn in two."""
    page = show(*every_explorer())
    page.emulate_media(media="print")
    assert page.locator(".course-explorer-play:visible").count() == 0
    assert page.locator(".course-explorer-view canvas:visible").count() > 0
    kept = page.locator(".course-explorer").evaluate_all(
        "boxes => boxes.map((box) => getComputedStyle(box).breakInside)"
    )
    assert kept == ["avoid"] * 4
    bars = page.locator(".course-explorer-row li").first
    assert bars.evaluate("bar => getComputedStyle(bar).printColorAdjust") == "exact"


@pytest.mark.parametrize(("view", "most_bytes"), [("explorers", 40_000), ("model", 49_000), ("translator", 45_000)])
def test_script_and_style_are_small_and_strict(view, most_bytes):
    """All that a page loads for explorers, uncompressed; and nothing that a policy or a folder would refuse."""
    script = bundle() if view == "explorers" else bundle_live(view)
    assert len(script.encode()) + (VIEWS / f"{view}.css").stat().st_size < most_bytes
    refused = ("eval(", "new Function", "import(", "import ", "export ", "innerHTML")
    assert not [word for word in refused if word in script]
