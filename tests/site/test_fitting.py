"""What is too wide for a phone is fitted, and only what still scrolls sideways is a stop of the keyboard."""

import pytest
from built_site import ROOT

STATIC = ROOT / "_static"
TABLE = "<div class='pst-scrollable-table-container'><table><tr>" + f"<td>{'x' * 30}</td>" * 4 + "</tr></table></div>"
PAGE = """<!doctype html><html lang="en"><title>Made up</title><style>{style}</style><main class="bd-article">
{body}<details><summary>More</summary>{body}</details></main>{scripts}</html>"""


@pytest.mark.parametrize("names", [("course", "fit_tables"), ("fit_tables", "course")], ids="-".join)
def test_only_what_still_scrolls_is_a_stop(browser, names):
    """In whatever order the scripts come, also in a fold, and where the page gets wider."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_content(
        PAGE.format(
            style=(STATIC / "course.css").read_text() + "pre, div { overflow: auto }",
            body=f"<pre style='white-space: pre'>{'x' * 90}</pre>{TABLE}",
            scripts="".join(f"<script>{(STATIC / name).with_suffix('.js').read_text()}</script>" for name in names),
        )
    )

    def stops():
        seen = "[...document.querySelectorAll('[tabindex]')].filter((box) => !box.closest('details:not([open])'))"
        return page.evaluate(f"{seen}.map((box) => box.tagName)")

    page.wait_for_function("document.readyState === 'complete'")
    assert stops() == ["PRE"] and page.locator("table.table-broken").count() > 0
    page.evaluate("for (const box of document.querySelectorAll('details pre, details div')) box.tabIndex = 0")
    page.locator("summary").click()
    page.wait_for_function("!document.querySelector('div[tabindex]')")
    assert stops() == ["PRE", "PRE"] and page.locator("table.table-broken").count() == 2
    page.set_viewport_size({"width": 1600, "height": 844})
    page.wait_for_function("!document.querySelector('table.table-broken')")
    assert stops() == []
    page.close()


TERMS = "".join(
    f"<span class='base' style='display: inline-block; width: 90px'>{letter} +</span>" for letter in "abcdef"
)
FORMULA = f"<span class='katex-display'><span class='katex'><span class='katex-html'>{TERMS}</span></span></span>"
AS_KATEX = ".katex-display, .katex, .katex-html { display: block } .katex-display > .katex { white-space: nowrap }"


@pytest.mark.parametrize("names", [[], ["fit_formulas", "course"]], ids=["before the scripts", "after them"])
def test_a_long_formula_is_never_off_the_screen(browser, names):
    """On a slow phone the scripts come late."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    style = f"{AS_KATEX} {(STATIC / 'course.css').read_text()}"
    scripts = "".join(f"<script>{(STATIC / name).with_suffix('.js').read_text()}</script>" for name in names)
    page.set_content(PAGE.format(style=style, body=FORMULA, scripts=scripts))
    if names:
        page.locator(".formula-fitted").first.wait_for()
    rights = page.locator(".base").evaluate_all(
        "parts => parts.filter((part) => part.checkVisibility()).map((part) => part.getBoundingClientRect().right)"
    )
    assert len(rights) >= 6 and max(rights) <= 390
    page.close()
