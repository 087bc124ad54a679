"""Pages of the site on a phone: how soon they show what they are for, what is copied, and letters twice as large."""

import re

import nbformat
import pytest
from built_site import HEIGHTS, ROOT, WIDTHS
from lessons import IN_ORDER, LOOK_UP

PHONE = {"width": WIDTHS["phone"], "height": HEIGHTS["phone"]}


def test_the_copy_button_copies_the_code_as_it_is(browser, origin):
    """The spans of lines neither add nor drop a character."""
    notebook = nbformat.read(ROOT / "chapters" / "masking.ipynb", as_version=4)
    # The first line of a folded cell is the fold's label on the site.
    sources = [re.sub(r"^# @title .*\n", "", cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    context = browser.new_context(viewport=PHONE, permissions=["clipboard-read"])
    page = context.new_page()
    page.goto(f"{origin}/chapters/masking.html")
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    for index in (1, 2, 3):
        page.locator(".cell_input .copybtn").nth(index).evaluate("(button) => button.click()")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.rstrip("\n") == sources[index]
    context.close()


@pytest.mark.parametrize("lesson", ["self_attention", "masking", "modern_block"])
def test_letters_twice_as_large_push_nothing_off_the_screen(open_page, origin, lesson):
    """Controls of explorers and buttons over the page stand below each other; long names break."""
    page = open_page(f"{origin}/chapters/{lesson}.html", "light", "phone").page
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.evaluate("for (const button of document.querySelectorAll('.course-check-anyway')) button.click()")
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


TOP = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const links = document.querySelectorAll("#the-parts a.reference");
  return {
    machine: box(".course-explorer-drawing").top,
    parts: box("#the-parts").height,
    pages: [...links].map((link) => link.getAttribute("href")),
  };
}"""


def test_the_machine_and_the_course_are_seen_at_once_on_the_front_page(open_page, origin):
    """The machine begins within the first screen, and all pages of the course take one and a half."""
    place = open_page(f"{origin}/intro.html", "dark", "phone").page.evaluate(TOP)
    assert place["machine"] <= 0.75 * HEIGHTS["phone"]
    assert place["parts"] <= 1.5 * HEIGHTS["phone"]
    assert sorted(place["pages"]) == sorted(f"chapters/{name}.html" for name in IN_ORDER if name != "ten_minutes")


MOST_OF_THE_INDEX, MOST_OF_A_RECIPE = 2, 1.5  # screens
RECIPES = """() => ({
  index: document.querySelector("article h2").getBoundingClientRect().top,
  recipes: Object.fromEntries(
    [...document.querySelectorAll("article section section section")].map((recipe) => [
      recipe.id, recipe.getBoundingClientRect().height,
    ])),
})"""


@pytest.mark.parametrize("name", LOOK_UP)
def test_the_index_and_each_recipe_fit(open_page, origin, name):
    """Of pages to look something up in: an answer is seen almost at once."""
    place = open_page(f"{origin}/chapters/{name}.html", "dark", "phone").page.evaluate(RECIPES)
    assert place["index"] <= MOST_OF_THE_INDEX * HEIGHTS["phone"]
    assert place["recipes"]
    long = {name: height for name, height in place["recipes"].items() if height > MOST_OF_A_RECIPE * HEIGHTS["phone"]}
    assert long == {}
