"""Links to what the live model shows, and pictures of it."""

from urllib.parse import urlencode

import numpy as np
import pytest
from explorer_pages import Mounted, keep_seen, kept, save_picture
from live_models import DRAWN, INTACT, LIMIT, TEXT, HighExplorer, Live, copied, until
from playwright.sync_api import expect


def test_a_link_restores_what_was_seen(show, two_models):
    """In a fresh page: text, token, changes, sampling, model, maps and folds."""
    page = show(two_models)
    live = Live(page)
    live.wait_for(open=[0, 1, 2, 3, 4])
    assert copied(page) == f"{page.url}#{urlencode({'live': TEXT, 'open': '1 2 3 4 5', 'token': len(TEXT)}, safe='*')}"
    live.choose_unmasked()
    page.get_by_label("seed").fill("4294967303")
    page.get_by_label("seed").blur()
    assert page.get_by_label("seed").input_value() == "4294967295"  # the largest, and what it draws with
    text = "a, b & c = 100% #\n+ é"[:-1]
    live.text.fill(text)
    live.wait_for(text=text)
    live.check("head 2", 0)
    live.check("block 2")
    live.check("positions")
    live.check("mask: hide the future")
    live.press("temperature", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    live.press("top-k", "ArrowLeft")
    live.press("top-p", "ArrowLeft")
    page.get_by_label("seed").fill("4000000000")  # more than 31 bits
    page.get_by_role("radio", name="block 1").check()
    page.get_by_role("radio", name="head 3").check()
    page.locator("summary", has_text="Follow one character").click()
    page.locator(".course-live-tokens button").nth(4).click()
    seen, weights = live.wait_for(selected=4, open=[0, 1, 2, 4]), live.weights
    link = copied(page)
    fresh = page.context.new_page()
    fresh.goto(link)
    fresh.locator(".course-live-cost:not(:empty)").wait_for()
    live = Mounted(fresh)
    assert live.state == seen
    np.testing.assert_array_equal(live.weights, weights)
    assert fresh.get_by_label("Your text").input_value() == text
    assert fresh.locator("details").evaluate_all("boxes => boxes.map((box) => box.open)") == [True] * 3 + [False, True]
    fresh.evaluate("location.hash = '#live=another'")  # an address that is typed in the same page
    Live(fresh).wait_for(text="another", model=0, changes=INTACT)
    assert page.errors == []


DAMAGED = ["live", "live=%E9", "live=" + "a" * (LIMIT + 1), "live=a&token=2", "live=a&off=9.1", "live=a&model=2",
           "live=a&temperature=hot", "live=a&temperature=", "live=a&temperature=1e400", "live=a&temperature=Infinity",
           "live=a&top-p=2", "live=a&mask=perhaps", "live=a&seed=-1", "live=a&seed=4294967296"]  # fmt: skip


def test_a_damaged_or_foreign_fragment_is_ignored(show, one_model):
    """The page is as without it, and says so of a link; what others add to a link does no harm."""
    page = show(one_model)
    first = Live(page).state
    said = page.locator(".course-live > [role=status]")
    fresh = page.context.new_page()
    fresh.goto(f"{page.url}#live=%E9")
    fresh.mouse.move(1, 1)
    assert Live(fresh).state == first
    assert fresh.locator(".course-live > [role=status]").inner_text() == "This link could not be read."
    fresh.close()
    page.evaluate("location.hash = 'top'")
    assert said.inner_text() == ""
    keep_seen(page, "document.querySelector('.course-live').explorer.state.text")
    for fragment in DAMAGED:
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        until(page, "document.querySelector('.course-live > [role=status]').textContent !== ''")
        page.locator(".course-live-legend").click()  # the reader goes on
        assert said.inner_text() == "" and page.evaluate("location.hash") == ""
    page.evaluate("location.hash = 'live=yes&open=2+1&utm_source=x&__proto__=1'")
    Live(page).wait_for(text="yes")
    assert kept(page) == [TEXT, "yes"]
    assert page.errors == []


def test_a_link_leads_to_its_model(show, two_models):
    """When the page opens, though all above it grows, and when it is open; until the reader changes something."""
    page = show(HighExplorer(), two_models, HighExplorer())
    top = "document.querySelector('.course-live').getBoundingClientRect().top"
    page.evaluate("location.hash = 'live=hello+world&model=2'")  # it has never been seen
    live = Live(page)
    live.wait_for(text="hello world", model=1)
    until(page, f"Math.abs({top}) < 100")
    address = page.url
    live.text.fill("a question that is answered after the other model would have started")
    live.wait_for(text="a question that is answered after the other model would have started"[-LIMIT:])
    assert live.state["model"] == 1 and page.locator(".course-live-tokens").count() == 1
    fresh = page.context.new_page()
    fresh.add_init_script(  # something above that grows when all has loaded
        "addEventListener('load', () => { document.querySelector('h1').style.height = '900px'; })"
    )
    fresh.goto(address)
    live = Live(fresh)
    assert fresh.evaluate(f"Math.abs({top}) < 100")
    live.text.fill("é invalid")
    assert fresh.evaluate("location.hash") == ""  # the page as it is now is another
    fresh.locator(".course-live-choice select").select_option(label="trained with the mask")
    live.wait_for(model=0, text="hello world")
    assert live.text.input_value() == "é invalid" and live.text.get_attribute("aria-invalid") == "true"
    assert fresh.locator(".course-live-text [role=status]").inner_text().startswith("The model does not know")
    fresh.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fresh.get_by_role("button", name="Copy link to this").click()
    fresh.locator(".course-live-status", has_text="with the text that the model has read last").wait_for()
    fresh.close()
    assert page.errors == []


def test_without_a_clipboard_the_link_is_shown(open_model):
    """In a field, selected, to be copied by hand."""
    page, live = open_model(from_folder=True)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy link to this").click()
    field = page.get_by_label("link to what you see")
    assert field.input_value().startswith(f"{page.url}#live=Return+the+item")
    selected = field.evaluate("field => [field === document.activeElement, field.selectionEnd - field.selectionStart]")
    assert selected == [True, len(field.input_value())]
    assert "copy the link yourself" in page.locator(".course-live-status[role=status]").inner_text()


def test_a_picture_is_saved(open_model, tmp_path):
    """Its size, its ground and its ink in both schemes, and more below when maps are on show."""
    page, live = open_model()
    heights = []
    for opened, scheme in (("true", "light"), ("false", "dark")):
        page.evaluate(f"document.querySelector('.course-live details').open = {opened}")
        page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
        name, height = save_picture(page, scheme, tmp_path)
        assert name == "live-model-return-the-item-of-d-with-key.png"
        heights.append(height)
    assert heights[0] > heights[1] + 100 and 300 < heights[1] < 600
    page.evaluate(DRAWN)
    page.evaluate("document.querySelector('.course-live details').open = true")
    live.check("head 2", 0)
    live.check("head 3", 2)
    live.check("positions")
    with page.expect_download():
        page.get_by_role("button", name="Save as picture").click()
    drawn = page.evaluate("window.drawn")
    assert [words for words, _, _ in drawn if words.startswith("Off: ")] == [
        "Off: block 1 head 2, block 3 head 3, positions."
    ] * 2
    assert all(right <= 660 for _, right, _ in drawn)  # no line is cut off
    assert [alpha for words, _, alpha in drawn if words == "map"][-4:] == pytest.approx([1, 1, 0.35, 1])
    assert "Picture saved." in page.locator(".course-live-status").inner_text()
    page.get_by_role("radio", name="head 1").check()  # one map, which is wider than the picture
    assert page.locator(".course-live figure canvas").evaluate("canvas => canvas.clientWidth") > 645
    with page.expect_download():
        page.get_by_role("button", name="Save as picture").click()
    assert page.evaluate("window.drawn.filter(([what]) => what === 'map').at(-1)[1]") == pytest.approx(660)
    assert page.errors == []


def test_a_link_leads_to_one_of_two_models(show, one_model):
    """The other stays as the page begins, and an address says which only where it is not the first."""
    page = show(one_model, one_model)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for index, told in enumerate(("#live=", "#at=2&live=")):
        page.get_by_label("Your text").nth(index).fill("another")
        live = Mounted(page, index)
        live.view.locator(".course-live-cost:not(:empty)").wait_for()
        expect(live.view.locator(".course-live-tokens button")).to_have_count(7)
        live.view.get_by_role("button", name="Copy link to this").click()
        expect(live.view.locator(".course-live-status")).to_have_text("Link copied.")
        link = page.evaluate("navigator.clipboard.readText()")
        assert link.startswith(page.url + told)
        fresh = page.context.new_page()
        fresh.goto(link)
        fresh.mouse.move(1, 1)
        for place in range(2):
            box = fresh.get_by_label("Your text").nth(place)
            expect(box).to_have_value("another" if place == index else TEXT)
        fresh.close()
    assert page.errors == []
