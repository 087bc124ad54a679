"""On a phone: what is measured there of every page, and what stands the letters twice as large."""

import re

import nbformat
import pytest
from visits import AS_OPENED, HEIGHTS, OFF_SCREEN, ROOT, WIDTHS

PHONE = {"width": WIDTHS["phone"], "height": HEIGHTS["phone"]}
PAGE = """<!doctype html><html lang="en"><title>Made up</title>
<style>body {{ margin: 0; font-size: 16px }} article {{ width: 358px }} pre {{ overflow: auto }}</style>
<article>{body}</article></html>"""

WIDE = {
    "code": "<pre>" + "x" * 200 + "</pre>",
    "a table in a box that scrolls": "<div class='pst-scrollable-table-container' style='overflow: auto'>"
    f"<table><tr><td>{'x' * 200}</td></tr></table></div>",
    "a table without one": f"<table><tr><td>{'x' * 200}</td></tr></table>",
    "a formula": "<span class='katex-display' style='display: block; overflow: auto'>"
    "<span style='display: inline-block; width: 400px'>y = x</span></span>",
    "a figure": "<div class='cell_output'><svg width='400' height='10'></svg></div>",
    "an explorer": "<div class='course-explorer' style='width: 400px'>slider</div>",
    "what begins too far left": "<img style='margin-left: -9px; display: block; width: 40px; height: 9px'>",
}
FINE = "<p>words</p><pre>short</pre><table><tr><td>1</td></tr></table><svg width='40' height='10'></svg>"


@pytest.mark.parametrize("body", WIDE.values(), ids=WIDE)
def test_what_is_too_wide_is_noticed(browser, body):
    page = browser.new_page(viewport=PHONE)
    page.set_content(PAGE.format(body=FINE))
    assert page.evaluate(OFF_SCREEN) == {"wide": [], "small": [], "unreadable": []}
    page.set_content(PAGE.format(body=FINE + body))
    assert page.evaluate(OFF_SCREEN)["wide"]
    page.close()


def test_what_is_too_small_is_noticed(browser):
    page = browser.new_page()
    formula = "<span class='katex-display'><span class='katex' style='font-size: 11px'>x</span></span>"
    page.set_content(PAGE.format(body="<p style='font-size: 13px'>words</p>" + formula))
    seen = page.evaluate(OFF_SCREEN)
    assert len(seen["small"]) == len(seen["unreadable"]) == 1
    page.close()


OPENED = """<!doctype html><meta name="viewport" content="width=device-width"><body style="margin: 0">
<article class="bd-article"><details><summary style="height: 400px">Code</summary><p>{long}</p></details>
<div class="cell_output"><svg height="20"></svg><svg style="display: block" height="444"></svg></div>
<h2>Exercises</h2></article>"""


def test_places_are_measured_as_the_page_opens(browser):
    page = browser.new_page(viewport=PHONE)
    page.set_content(OPENED.format(long="long " * 5000))
    measured = page.evaluate(AS_OPENED)
    assert 844 < measured["picture"] < measured["exercises"] < 930
    page.set_content("<article class='bd-article'>No picture.</article>")
    assert page.evaluate(AS_OPENED) == {"exercises": None, "picture": None}
    page.close()


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
