"""Links to what the live translator shows, and pictures of it."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from explorer_pages import save_picture
from live_models import DRAWN, copied
from live_translators import INTACT, LIMIT, TEXT, Live, encode
from playwright.sync_api import expect

from attention_course.tasks.translation import VOCABULARY


def damage(link):
    """Fragments that no page would write, made of one that a page wrote."""
    told = dict(parse_qsl(urlsplit(link).fragment))
    wrong = {
        "translate": ["", "the zebra", "cat " * 14],
        "written": [told["written"] + " le le", "zebra", ". le"],
        "forced": ["14", "x"],
        "word": ["0", "99", "two"],
        "off": ["9.1", "1"],
        "encoder": ["3"],
        "head": ["5"],
    }
    changed = [{**told, name: value} for name, values in wrong.items() for value in values]
    return [urlencode(one) for one in [*changed, {"translate": TEXT}]]


def test_a_link_restores_what_was_seen(open_translator):
    """In a fresh page: sentence, words, choices and what is off; a damaged one is said, and changes nothing."""
    page, live = open_translator()
    text = "“The cat, often, sees a dog.”"
    live.text.fill(text)
    live.wait_for(source=encode("the cat often sees a dog."), writing=False)
    live.written.nth(2).click()
    page.locator(".course-live-instead button").nth(7).click()
    live.wait_for(forced=[2], selected=2, writing=False)
    for name in ("encoder block 2", "decoder block 1"):
        page.get_by_role("checkbox", name=name, exact=True).click()
    off = page.get_by_role("group", name="decoder block 2").get_by_role("checkbox", name="head 3", exact=True)
    off.click()
    page.get_by_role("button", name="Take back", exact=True).click()
    live.written.nth(4).click()
    page.get_by_role("radio", name="all blocks").check()
    page.get_by_role("radio", name="head 3").check()
    seen = live.wait_for(
        changes={"heads": [[], [2]], "encoder": [1], "decoder": [0]}, selected=4, block=0, head=3, forced=[2]
    )
    assert len(seen["written"]) == LIMIT - 1
    weights, logits, link = live.weights, live.logits(), copied(page)
    assert link.startswith(f"{page.url}#translate=") and link.endswith("&word=5")

    fresh = page.context.new_page()
    fresh.add_init_script(  # something above that grows when all has loaded
        "addEventListener('load', () => { document.querySelector('h1').style.height = '900px'; })"
    )
    fresh.goto(link)
    again = Live(fresh)
    assert again.state == seen
    np.testing.assert_array_equal(again.weights, weights)
    np.testing.assert_array_equal(again.logits(), logits)
    assert again.text.input_value() == text
    assert [box.is_checked() for box in fresh.get_by_role("checkbox").all()].count(False) == 3
    assert not fresh.get_by_role("checkbox", name="encoder block 2").is_checked()
    assert fresh.evaluate("Math.abs(document.querySelector('.course-live').getBoundingClientRect().top) < 100")

    said = fresh.locator(".course-live > [role=status]")
    for fragment in damage(link):
        fresh.evaluate("fragment => { location.hash = fragment; }", fragment)
        expect(said).to_have_text("This link could not be read.")
        fresh.locator(".course-live-cost").click()  # the reader goes on
        assert said.inner_text() == "" and fresh.evaluate("location.hash") == ""
    for foreign in ("top", "live=cat", "transl%E9"):
        fresh.evaluate("fragment => { location.hash = fragment; }", foreign)
        fresh.locator(".course-live-cost").click()
        assert said.inner_text() == "" and fresh.evaluate("location.hash") == f"#{foreign}"
    assert again.state == seen
    other = link.split("#")[1].replace("&word=5", "&utm_source=x&__proto__=1&word=1")
    fresh.evaluate("fragment => { location.hash = fragment; }", other)  # an address that is typed in the same page
    again.wait_for(selected=0, written=seen["written"])
    again.text.fill("zebra")
    fresh.get_by_role("button", name="Copy link to this").click()
    expect(fresh.locator(".course-live-status")).to_contain_text("with the text that the model has read last")
    fresh.close()
    assert page.errors == []


def test_a_picture_is_saved(open_translator, tmp_path):
    """Its size, its ground, its ink and its words; more below when maps are on show; nothing is cut off."""
    page, live = open_translator(scheme="dark")
    page.evaluate(DRAWN)
    live.written.nth(2).click()
    page.locator(".course-live-instead button").nth(7).click()
    live.wait_for(forced=[2], writing=False)
    page.get_by_role("checkbox", name="encoder block 2").click()
    live.wait_for(changes=INTACT | {"encoder": [1]})
    heights = []
    for opened in (True, False):
        page.evaluate("open => { document.querySelectorAll('.course-live-section')[1].open = open; }", opened)
        name, height = save_picture(page, "dark", tmp_path)
        assert name == "translation-the-black-cat-does-not-love-a-small-bee.png"
        heights.append(height)
    assert heights[0] > heights[1] + 100 and 400 < heights[1] < 700
    drawn = page.evaluate("window.drawn")
    words = [word for word, _, _ in drawn]
    for symbol in (*encode(TEXT), *live.state["written"]):
        assert VOCABULARY[symbol] in words
    assert {"Off: encoder block 2.", "Dashed: chosen by the reader.", "The likeliest words at place 3:"} < set(words)
    assert words.count("map") == 2 * 4  # each picture is drawn twice, and the second has no maps
    assert all(right <= 660 for _, right, _ in drawn)
    assert page.errors == []
