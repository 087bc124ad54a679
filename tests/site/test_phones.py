"""On a phone as on a desktop, nothing that is meant to be read lies off the screen of a page."""

import re

import nbformat
import pytest
from lessons import IN_ORDER
from visits import OFF_SCREEN, ROOT, SITE, modes_of

PAGES = sorted(f"chapters/{path.name}" for path in SITE.glob("chapters/*.html")) or ["no site"]
LESSONS = sorted(f"chapters/{name}.html" for name in IN_ORDER)
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
    page = browser.new_page(viewport={"width": 390, "height": 844})
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


MODES = [pytest.param(lesson, mode, id="-".join((lesson, *mode))) for lesson in LESSONS for mode in modes_of(lesson)]


@pytest.mark.parametrize(("lesson", "mode"), MODES)
def test_nothing_lies_off_the_screen(visit, lesson, mode):
    """A formula named here is too long for a phone at 12 px: write it in `aligned` lines."""
    assert visit(lesson, *mode).off_screen == {"wide": [], "small": [], "unreadable": []}


@pytest.mark.parametrize("lesson", PAGES)
def test_code_and_printed_results_wrap(visit, lesson):
    """On every page, and a wrapped line of code goes on further in than it started."""
    seen = visit(lesson, "dark", "phone")
    assert seen.wide_code == 0
    assert seen.wrapped, "no line of this page is long enough to wrap"
    assert all(abs(off) <= 1 and (spaces > 16 or column > spaces * 7) for spaces, off, column in seen.wrapped)


def test_the_copy_button_copies_the_code_as_it_is(browser, origin):
    """The spans of lines neither add nor drop a character."""
    notebook = nbformat.read(ROOT / "chapters" / "masking.ipynb", as_version=4)
    # The first line of a folded cell is the fold's label on the site.
    sources = [re.sub(r"^# @title .*\n", "", cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    context = browser.new_context(viewport={"width": 390, "height": 844}, permissions=["clipboard-read"])
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
