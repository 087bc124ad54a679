"""On a phone as on a desktop, nothing that is meant to be read lies off the screen in the lessons in the new form."""

from pathlib import Path

import nbformat
import pytest
from lessons import FURTHER, IN_THE_NEW_FORM
from visits import ROOT, SITE, run_axe

OFF_SCREEN = (Path(__file__).parent / "off_screen.js").read_text()
PAGES = sorted(f"chapters/{path.name}" for path in SITE.glob("chapters/*.html")) or ["no site"]
LESSONS = sorted(f"chapters/{name}.html" for name in IN_THE_NEW_FORM | FURTHER)
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


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_lies_off_the_screen(open_page, origin, lesson, width):
    """A formula named here is too long for a phone at 12 px: write it in `aligned` lines."""
    page, _, _ = open_page(f"{origin}/{lesson}", "light", width)
    page.wait_for_timeout(300)  # for the scripts that fit what was in closed folds
    seen = page.evaluate(OFF_SCREEN)
    page.close()
    assert seen == {"wide": [], "small": [], "unreadable": []}


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_is_touched_is_large_enough(open_page, origin, lesson):
    """24 px, or as much room around it (WCAG 2.2, target size)."""
    page, _, _ = open_page(f"{origin}/{lesson}", "light", "phone")
    violations = run_axe(page, {"include": [["article"]]}, runOnly=["target-size"])
    page.close()
    assert violations == []


@pytest.mark.parametrize("lesson", PAGES)
def test_code_and_printed_results_wrap(open_page, origin, lesson):
    """On every page, and a wrapped line of code goes on further in than it started."""
    page, _, _ = open_page(f"{origin}/{lesson}", "light", "phone")
    wide = page.evaluate(
        "[...document.querySelectorAll('pre')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    )
    # For each wrapped line: where its first letter stands, and where its second row does.
    rows = page.evaluate("""() => [...document.querySelectorAll(".cell_input .code-line")].flatMap((line) => {
      const range = document.createRange();
      range.selectNodeContents(line);
      const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
      const second = rects.find((rect) => rects[0] && rect.top > rects[0].top + 5);
      if (!second) return [];
      const spaces = line.textContent.match(/^ */)[0].length;
      const column = parseFloat(getComputedStyle(line).paddingLeft);
      const left = line.getBoundingClientRect().left;
      return [[spaces, Math.round(second.left - left - column), column]];
    })""")
    page.close()
    assert wide == 0
    assert rows, "no line of this page is long enough to wrap"
    assert all(abs(off) <= 1 and (spaces > 16 or column > spaces * 7) for spaces, off, column in rows)


def test_the_copy_button_copies_the_code_as_it_is(browser, origin):
    """The spans of lines neither add nor drop a character."""
    notebook = nbformat.read(ROOT / "chapters" / "masking.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    context = browser.new_context(viewport={"width": 390, "height": 844}, permissions=["clipboard-read"])
    page = context.new_page()
    page.goto(f"{origin}/chapters/masking.html")
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    for index in (1, 2, 3):
        page.locator(".cell_input .copybtn").nth(index).evaluate("(button) => button.click()")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.rstrip("\n") == sources[index]
    context.close()
