"""Live models where something fails: a file that does not arrive, no worker, a view that has gone."""

import re

import pytest
import torch
from explorer_pages import Mounted
from live_models import HighExplorer, until
from playwright.sync_api import expect

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS


@pytest.mark.parametrize("missing", [True, False])
def test_weights_that_do_not_arrive_can_be_loaded_again(show, two_models, missing):
    """Offline, or where a server answers with another page: it is said, and can be tried again."""
    page = show(HighExplorer(), two_models)
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


# What happens to weights, which are one line of characters.
DAMAGE = {
    "half is missing": lambda text: text[: len(text) // 2] + '";',
    "one stands for nothing": lambda text: text[:5000] + "!" + text[5001:],
    "200 are others": lambda text: text[:5000] + re.sub(".(.{499})", r"/\1", text[5000:105_000]) + text[105_000:],
}
NO_CHECKSUMS = "() => { Object.defineProperty(Crypto.prototype, 'subtle', {value: undefined}); }"

WAYS = [(way, False) for way in DAMAGE] + [("200 are others", True)]


@pytest.mark.parametrize(("damage", "has_checksums"), WAYS)
def test_weights_that_arrive_damaged_are_not_used(show, one_model, damage, has_checksums):
    """It is said, and the first picture stays; also where a page came unencrypted, and has no checksums."""
    page = show(one_model, moved=False)
    if not has_checksums:
        page.evaluate(NO_CHECKSUMS)
    page.route("**/models/*", lambda route: route.fulfill(body=DAMAGE[damage](route.fetch().text())))
    page.mouse.move(1, 1)
    expect(page.locator(".course-live > [role=status]")).to_have_text("The model could not be loaded.")
    assert page.locator(".course-explorer-first").is_visible()
    assert page.get_by_label("Your text").count() == 0
    page.unroute("**/models/*")
    page.get_by_role("button", name="Load the model again").click()
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert page.locator(".course-explorer-first").count() == 0


def test_the_first_picture_stays_until_the_model_answers(show, one_model):
    """Nothing of the model is seen before."""
    page = show(HighExplorer(), one_model)
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


def test_where_no_worker_can_be_made_the_page_computes(show, one_model):
    """In a frame that has no origin, as other pages embed one, `new Worker` throws."""
    page = show(one_model, moved=False, policy="default-src *")
    page.set_content(f'<iframe sandbox="allow-scripts" src="{page.url}" width="700" height="1500"></iframe>')
    page.locator("iframe").hover()
    expect(page.frame_locator("iframe").locator(".course-live-cost")).to_contain_text("On this text")


def test_a_worker_that_fails_is_ended(show, one_model):
    """The page takes over, and does not keep the worker's memory."""
    page = show(one_model)
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert len(page.workers) == 1
    page.workers[0].evaluate("() => { globalThis.onmessage = () => { throw new Error('lost'); }; }")
    page.get_by_label("Your text").fill("def")
    expect(page.locator(".course-live-tokens button")).to_have_count(3)
    if page.workers:
        page.workers[0].wait_for_event("close")
    assert not page.workers


def test_a_model_and_a_translator_on_one_page(show, one_model):
    """Both run, each says what is wrong with what is typed in it, and no name is taken twice.

    Radio buttons of one name would be one choice.
    """
    torch.manual_seed(0)
    words = ["<pad>", ".", "a", "cat"]
    translator = explore_model(
        EncoderDecoder(len(words), 8, 2, 2, pad=0), words, "a cat.", alt="A translator.", limit=4
    )
    page = show(one_model, translator)
    for name, wrong in (("Your text", "é"), ("Your sentence", "zebra")):
        box = page.get_by_label(name)
        box.fill(wrong)
        fault = page.locator(f"[id='{box.get_attribute('aria-describedby')}']")
        expect(fault).to_contain_text(wrong)
    names = page.locator(".course-live").evaluate_all(
        """views => views.map((view) => [
          ...new Set([...view.querySelectorAll("[type=radio]")].map((input) => input.name)),
          ...[...view.querySelectorAll("[id]")].map((element) => element.id),
        ])"""
    )
    assert all(len(own) >= 3 for own in names) and not set(names[0]) & set(names[1])
    assert page.errors == []


ASK = """async () => {
  const engine = () => function* (question) {
    yield;
    if (question < 0) throw new Error("no answer");
    return 2 * question;
  };
  const told = (promise) => promise.then((answer) => answer, (error) => error.message);
  const host = makeHost(engine, {}, {});
  const first = host.ask(-1);
  const ready = told(host.ready);
  const answers = [await told(first), await told(host.ask(2)), await told(host.ask(-3)), await told(host.ask(4))];
  const broken = makeHost(() => { throw new Error("damaged weights"); }, {}, {});
  return [...answers, await ready, await told(broken.ask(1)), await told(broken.ask(1))];
}"""


def test_a_question_that_fails_does_not_take_the_next_with_it(browser):
    """Asked of a model that is made up."""
    page = browser.new_page()
    page.set_content("<!doctype html><title>A host</title>")
    script = join(VIEWS / "live" / "host.js").replace("export const", "const")
    page.add_script_tag(content=f"{script}\nglobalThis.makeHost = makeHost;", type="module")
    assert page.evaluate(ASK) == ["no answer", 4, "no answer", 8, "no answer", "damaged weights", "damaged weights"]
    page.close()
