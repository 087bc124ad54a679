"""What the live model loads, when, and where: as the reader comes to it, as it is chosen, and in a notebook."""

import json

import pytest
from live_models import LIMIT, NOTEBOOK, START, TEXT, TOLD_OF_THE_MODEL, HighExplorer, Live, until
from serving import serving

from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS


def test_weights_are_loaded_when_the_reader_comes(show, one_model):
    """Not before; until then, and without JavaScript, the first state is shown."""
    page = show(HighExplorer(), one_model)
    page.evaluate(TOLD_OF_THE_MODEL)
    assert not any("/models/" in url for url in page.requests)
    assert page.locator(".course-explorer-first").is_visible()
    page.locator(".course-live").scroll_into_view_if_needed()
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert [url.rsplit("/", 2)[-2] for url in page.requests].count("models") == 1
    assert page.locator(".course-explorer-first").count() == 0
    page = show(one_model, java_script_enabled=False)
    assert "the likeliest next characters are" in page.locator(".course-explorer-first").inner_text()
    assert page.locator(".course-explorer-first svg").is_visible()


# In all other tests the reader moves the mouse.
SIGNS = {
    "scrolls": lambda page: page.mouse.wheel(0, 50),
    "presses a key": lambda page: page.keyboard.press("Shift"),
}


@pytest.mark.parametrize("sign", SIGNS)
def test_weights_of_the_first_screen_wait_for_a_sign_of_the_reader(show, one_model, sign):
    """They may weigh more than all that the page shows of itself."""
    page = show(one_model, HighExplorer(), moved=False)
    page.evaluate(TOLD_OF_THE_MODEL)
    assert not any("/models/" in url for url in page.requests)
    assert page.locator(".course-explorer-first").is_visible()
    assert page.locator(".course-live-note", has_text="as soon as you move").is_visible()
    SIGNS[sign](page)
    Live(page)


def test_what_the_reader_chose_outlives_another_model(show, two_models):
    """Folds, sliders, seed and the switches that the other model has as well."""
    page = show(two_models)
    live = Live(page)
    page.locator("summary", has_text="Follow one character").click()  # closes it
    live.press("temperature", *["ArrowRight"] * 8)  # from 1
    live.press("top-p", *["ArrowLeft"] * 5)
    page.get_by_label("seed").fill("7")
    live.check("head 2", 0)
    live.check("block 3")
    page.get_by_role("radio", name="block 1").check()
    live.choose_unmasked()
    state = live.state
    assert (state["temperature"], state["topP"], state["seed"]) == (pytest.approx(10 ** (8 / 93)), 0.7, 7)
    assert state["changes"] == {"heads": [[1], []], "blocks": [], "positions": True, "masked": False, "means": False}
    assert state["block"] == 1 and live.weights.shape[0] == 4
    assert live.output("temperature") == "1.22" and page.get_by_label("seed").input_value() == "7"
    assert not page.get_by_role("checkbox", name="head 2", exact=True).first.is_checked()
    folds = page.locator("details").evaluate_all("boxes => boxes.map((box) => box.open)")
    assert folds == [True, True, True, False, True]
    assert page.errors == []


# Answers requests for weights when it is told to, the newest first.
HOLD = """() => {
  const { append } = Element.prototype;
  window.held = [];
  document.head.append = (element) => window.held.push(element);
  const arrival = (element) => new Promise((done) => {
    element.addEventListener("load", done);
    append.call(document.head, element);
  });
  window.release = () => Promise.all(window.held.splice(0).reverse().map(arrival)).then(() => null);
}"""


def test_only_the_model_that_was_chosen_last_starts(show, two_models):
    """However long the others take to load."""
    page = show(HighExplorer(), two_models)
    page.evaluate(HOLD)
    page.locator(".course-live").scroll_into_view_if_needed()
    until(page, "window.held.length === 1")
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    until(page, "window.held.length === 2")
    page.evaluate("window.release()")
    live = Live(page)
    live.text.fill("a question that is answered after the other model would have started")
    live.wait_for(model=1, text="a question that is answered after the other model would have started"[-LIMIT:])
    assert page.locator(".course-live-tokens").count() == 1
    assert page.locator(".course-live > .course-live-note").all_inner_texts() == ["", ""]
    assert page.errors == []


@pytest.fixture
def notebook(browser, one_model, tmp_path):
    """The view as a module, as notebooks load it, once it has run."""
    files = {
        "index.html": NOTEBOOK,
        "start.mjs": START,
        "view.mjs": join(VIEWS / "model.js"),
        "data.json": json.dumps(one_model.values["data"]),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with serving(tmp_path) as origin:
        page = browser.new_page()
        page.goto(f"{origin}/index.html")
        page.locator(".course-live-cost:not(:empty)").wait_for()
        yield page
        page.close()


def show_another(notebook):
    """Show the model once more, until it answers: by then what began before has come to its end."""
    notebook.evaluate("() => { showAnother(); }")
    notebook.locator("#another .course-live-cost:not(:empty)").wait_for()


def test_a_view_that_is_taken_away_starts_nothing(notebook):
    """A model that has loaded by then is not started. (Nor is a link offered: the page is not the model's own.)"""
    assert notebook.locator(".course-live-share button").all_inner_texts() == ["Save as picture"]
    notebook.evaluate(
        """() => {
          document.querySelector(".course-live-choice select").dispatchEvent(new Event("change")); // loads it again
          window.leave();
        }"""
    )
    show_another(notebook)
    assert notebook.locator(".course-live-tokens").count() == 1


def test_a_view_that_is_taken_away_draws_nothing(notebook):
    """An answer that comes after it was ended is of no model on the page."""
    notebook.evaluate(
        """async () => {
          const view = window.left = document.querySelector(".course-live");
          const area = view.querySelector("textarea");
          area.value = "another";
          area.dispatchEvent(new Event("input"));
          await null; // the model has begun
          window.leave();
        }"""
    )
    show_another(notebook)
    assert notebook.evaluate("window.left.explorer.state.text") == TEXT


def test_weights_wait_until_the_page_has_loaded(show, one_model):
    """A model at the top of a page does not delay what the page loads of itself."""
    page = show(HighExplorer(), one_model)
    page.evaluate("Object.defineProperty(document, 'readyState', { value: 'interactive' })")
    page.locator(".course-live").scroll_into_view_if_needed()
    page.locator(".course-live-note", has_text="Loading the model").wait_for()
    page.evaluate(TOLD_OF_THE_MODEL)
    assert not any("/models/" in url for url in page.requests)
    page.evaluate("dispatchEvent(new Event('load'))")
    Live(page)
