"""Live models where something fails: a file that does not arrive, no worker, a view that has gone."""

import pytest
import torch
from choosing import weekly
from explorer_pages import Mounted, write_pages
from live_models import LIMIT, TEXT, HighExplorer, until
from playwright.sync_api import expect
from serving import serving

from attention_course.checkpoints import load_character_model
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model


@pytest.mark.parametrize("missing", [True, False])
def test_weights_that_do_not_arrive_can_be_loaded_again(show, trained, missing):
    """Offline, or where a server answers with another page: it is said, and can be tried again."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    page = show(HighExplorer(), explore_model(model, vocabulary, TEXT, alt="Two.", limit=LIMIT, unmasked=cheat))
    body = "void 0; // another page"
    block = (lambda route: route.abort()) if missing else (lambda route: route.fulfill(body=body))
    page.route("**/models/*", block)
    view = page.locator(".course-live")
    view.scroll_into_view_if_needed()
    said = page.locator(".course-live > [role=status]")
    again = page.get_by_role("button", name="Load the model again")
    for _ in range(2):
        expect(said).to_have_text("The model could not be loaded.")
        assert view.get_attribute("aria-busy") is None  # or nobody would hear it
        assert page.locator(".course-explorer-first").is_visible()
        again.press("Enter")
    expect(said).to_have_text("The model could not be loaded.")
    assert again.bounding_box()["width"] < 200  # a button, no bar
    page.unroute("**/models/*")
    again.press("Enter")
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert said.inner_text() == "" and again.is_hidden()
    assert view.evaluate("view => view === document.activeElement")
    assert page.locator(".course-explorer-first").count() == 0
    page.route("**/models/*", block)
    menu = page.locator(".course-live-choice select")
    menu.select_option(label="trained without the mask")
    expect(said).to_have_text("The model could not be loaded.")
    menu.select_option(label="trained with the mask")  # it is here
    expect(again).to_be_hidden()
    assert said.inner_text() == "" and Mounted(page).state["model"] == 0


def cut_off(text):
    """Weights of which the end is missing."""
    return text[: len(text) // 2] + '";'


def illegal(text):
    """Weights with a character that stands for nothing."""
    return text[:5000] + "!" + text[5001:]


def scattered(text):
    """Weights of which 200 characters are others."""
    places = range(5000, 105_000, 500)
    return "".join("/" if place in places else character for place, character in enumerate(text))


NO_CHECKSUMS = "Object.defineProperty(Crypto.prototype, 'subtle', {value: undefined})"


ON_EACH_CHANGE = [(cut_off, False), (illegal, False), (scattered, True)]
BY_CHECKSUM_TOO = [weekly((cut_off, True)), weekly((illegal, True)), weekly((scattered, False))]


@pytest.mark.parametrize(("damage", "has_checksums"), ON_EACH_CHANGE + BY_CHECKSUM_TOO)
def test_weights_that_arrive_damaged_are_not_used(browser, trained, tmp_path, damage, has_checksums):
    """It is said, and the first picture stays; also where a page came unencrypted, and has no checksums."""
    model, vocabulary = trained
    write_pages(tmp_path, [explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT)])
    with serving(tmp_path) as origin:
        page = browser.new_page()
        if not has_checksums:
            page.add_init_script(NO_CHECKSUMS)
        page.route("**/models/*", lambda route: route.fulfill(body=damage(route.fetch().text())))
        page.goto(f"{origin}/light.html")
        page.mouse.move(1, 1)
        expect(page.locator(".course-live > [role=status]")).to_have_text("The model could not be loaded.")
        assert page.locator(".course-explorer-first").is_visible()
        assert page.get_by_label("Your text").count() == 0
        page.unroute("**/models/*")
        page.get_by_role("button", name="Load the model again").click()
        page.locator(".course-live-cost:not(:empty)").wait_for()
        assert page.locator(".course-explorer-first").count() == 0
        page.close()


def test_the_first_picture_stays_until_the_model_answers(show, trained):
    """Nothing of the model is seen before."""
    model, vocabulary = trained
    page = show(HighExplorer(), explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT))
    page.evaluate(
        """() => {
      globalThis.seen = [];
      const look = () => {
        const view = document.querySelector(".course-live-cost");
        const first = document.querySelector(".course-explorer-first") !== null;
        if (view) seen.push([first, view.checkVisibility({ visibilityProperty: true }), view.textContent !== ""]);
        requestAnimationFrame(look);
      };
      look();
    }"""
    )
    page.locator(".course-live").scroll_into_view_if_needed()
    until(page, "seen.filter(([, visible]) => visible).length > 9")
    states = {tuple(state) for state in page.evaluate("seen")}
    assert (False, True, True) in states
    assert states <= {(True, False, False), (False, True, True)}


def test_where_no_worker_can_be_made_the_page_computes(browser, trained, tmp_path):
    """In a frame that has no origin, as other pages embed one, `new Worker` throws."""
    model, vocabulary = trained
    write_pages(tmp_path, [explore_model(model, vocabulary, TEXT, alt="A model.")])
    frame = '<iframe sandbox="allow-scripts" src="light.html" width="700" height="1500"></iframe>'
    (tmp_path / "outer.html").write_text(f"<!doctype html>{frame}")
    with serving(tmp_path, "default-src *") as origin:
        page = browser.new_page()
        page.goto(f"{origin}/outer.html")
        page.locator("iframe").hover()
        cost = page.frame_locator("iframe").locator(".course-live-cost")
        expect(cost).to_contain_text("Average surprise")
        page.close()


def test_a_worker_that_fails_is_ended(show, trained):
    """The page takes over, and does not keep the worker's memory."""
    model, vocabulary = trained
    page = show(explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT))
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert len(page.workers) == 1
    page.workers[0].evaluate("() => { globalThis.onmessage = () => { throw new Error('lost'); }; }")
    page.get_by_label("Your text").fill("def")
    expect(page.locator(".course-live-tokens button")).to_have_count(3)
    if page.workers:
        page.workers[0].wait_for_event("close")
    assert not page.workers


def test_a_model_and_a_translator_on_one_page(show, trained):
    """Both run, and each says what is wrong with what is typed in it."""
    model, vocabulary = trained
    torch.manual_seed(0)
    words = ["<pad>", ".", "a", "cat"]
    translator = explore_model(
        EncoderDecoder(len(words), 8, 2, 1, pad=0), words, "a cat.", alt="A translator.", limit=4
    )
    page = show(explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT), translator)
    for name, wrong in (("Your text", "é"), ("Your sentence", "zebra")):
        box = page.get_by_label(name)
        box.fill(wrong)
        fault = page.locator(f"[id='{box.get_attribute('aria-describedby')}']")
        expect(fault).to_contain_text(f"{wrong}")
    assert page.errors == []
