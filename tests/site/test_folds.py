"""Folded cells, on a page of the sample in a real browser."""

import pytest
from small_book import read_page

PAGE = "chapters/second"
CODE = "details.fold .cell_input"
BUTTON = ".show-all-code"
SUMMARY = "details.fold summary"
CLOSED, OPEN, FIRST = [False] * 3, [True] * 3, [True, False, False]


@pytest.fixture
def show(open_sample):
    return lambda **options: open_sample(f"{PAGE}.html", **options)


@pytest.fixture
def page(show):
    return show()


def shown(page):
    return [code.is_visible() for code in page.locator(CODE).all()]


def wait_until_pressed(page, state):
    page.locator(f"{BUTTON}[aria-pressed={state}]").wait_for()


def test_a_fold_says_its_title_in_place_of_its_first_line(sample):
    """Escaped, and as what the fold is called: MyST-NB's own label hides it. What a cell shows stands open."""
    folds = read_page(sample, PAGE).select("details.fold")
    titles = ["Draw <one> layer & two heads", "Keep a number", "Keep another"]
    assert [fold.summary.get_text() for fold in folds] == [f"Code: {title}" for title in titles]
    assert folds[0].select("pre")[-1].get_text() == '# How it is drawn.\nprint("drawn")\n'
    assert folds[1].pre.get_text() == "number = 1\n"
    assert [fold.summary.get("aria-label") for fold in folds] == [None] * 3
    assert "drawn" in folds[0].find_next_sibling(class_="cell_output").get_text()


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_fold_opens_with_the_keyboard(page, key):
    assert page.get_by_text("drawn", exact=True).is_visible()
    page.locator(SUMMARY).first.focus()
    for now in (FIRST, CLOSED):
        page.keyboard.press(key)
        assert shown(page) == now


def test_one_button_opens_and_closes_all_and_tells_its_state(page):
    button = page.get_by_role("button", name="Show all code")
    button.focus()
    assert button.get_attribute("aria-pressed") == "false"
    page.keyboard.press("Enter")
    wait_until_pressed(page, "true")
    assert shown(page) == OPEN
    page.keyboard.press(" ")
    wait_until_pressed(page, "false")
    assert shown(page) == CLOSED


def test_a_pressed_button_has_the_colour_of_what_is_chosen_where_the_system_gives_the_colours(show):
    page = show(forced_colors="active")
    page.locator(BUTTON).click()
    wait_until_pressed(page, "true")
    chosen = """button => {
      const ground = (of) => getComputedStyle(of).backgroundColor;
      const other = document.body.appendChild(document.createElement("b"));
      other.style = "forced-color-adjust: none; background: Highlight";
      return ground(button) === ground(other);
    }"""
    assert page.locator(BUTTON).evaluate(chosen)


def test_the_button_follows_folds_that_are_opened_one_by_one(page):
    page.locator(SUMMARY).first.click()
    page.locator(BUTTON).click()  # one is closed, so this opens
    wait_until_pressed(page, "true")
    assert shown(page) == OPEN
    page.locator(SUMMARY).last.click()
    wait_until_pressed(page, "false")


def test_folds_are_open_in_print_and_as_they_were_after_it(page):
    page.locator(SUMMARY).first.click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown(page) == OPEN
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown(page) == FIRST


@pytest.mark.parametrize(("media", "fading"), [("screen", True), ("print", False)])
def test_nothing_fades_in_on_paper(show, media, fading):
    """A page is laid out for paper before it could be seen."""
    page = show(reduced_motion="no-preference")
    page.emulate_media(media=media)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.getAnimations().length > 0") == fading


def test_without_scripts_folds_work_and_are_open_in_print(show):
    """No button is there."""
    page = show(java_script_enabled=False)
    assert page.locator(BUTTON).count() == 0
    assert shown(page) == CLOSED
    page.locator(SUMMARY).first.click()
    assert shown(page) == FIRST
    page.emulate_media(media="print")
    assert shown(page) == OPEN
    assert all(code.bounding_box() for code in page.locator(CODE).all())
