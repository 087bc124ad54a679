"""What looks at pages sees what is wrong with them: on pages that are made up, with a fault and without."""

import pytest
from built_site import HEIGHTS, WIDTHS
from visits import DIAGRAM_FAULTS, OFF_SCREEN, find_violations

from attention_course.diagrams import Diagram

PAGE = """<!doctype html><html lang="en"><title>Made up</title>
<style>body {{ margin: 0; background: #fff; color: #222 }} article {{ width: 358px }} pre {{ overflow: auto }}
.dark {{ background: #333 }} .pale {{ color: #ccc }}</style>
<main><h1>Made up</h1>{before}<article class="bd-article">{body}</article></main></html>"""
FINE = "<p>words</p>" * 50


@pytest.fixture
def show(browser):
    """A function that shows an article, on a phone."""
    page = browser.new_page(viewport={"width": WIDTHS["phone"], "height": HEIGHTS["phone"]})

    def show(body, before=""):
        page.set_content(PAGE.format(body=body, before=before))
        return page

    yield show
    page.close()


PALE, IMAGE = ["color-contrast"], "<img src='data:,'>"
VIOLATIONS = {
    "<p class=pale>pale on white</p>" * 50: PALE,  # one stands for its kind
    "<div class=dark><p class=pale>pale on dark</p></div>": [],
    "<div class=dark><p>dark on dark</p></div>": PALE,
    "<div style='opacity: .3'><p>made pale by its parent</p></div>": PALE,
    "<p>dark and <em class=pale>pale</em></p>": PALE,
    "<p class=pale aria-hidden=true>-</p><p class=pale>behind the same, which no screen reader tells</p>": PALE,
    "<pre><span class=k>for</span> <span class=pale>word</span></pre>": PALE,
    "<pre><span class=code-line><span class=k>for</span> <span class=k role=button></span></span></pre>": [
        "aria-command-name"
    ],
    IMAGE * 2: ["image-alt"] * 2,
    f"<span class=katex-mathml>{IMAGE}</span><span class=katex-html aria-hidden=true><i class=pale>x</i></span>": [
        "image-alt"
    ],
}


def test_every_kind_of_text_is_looked_at_and_everything_by_the_other_rules(show):
    """Of code but for words that are nothing but coloured, and of formulas what is spoken."""
    found = {body: [one.split(":")[0] for one in find_violations(show(FINE + body))] for body in VIOLATIONS}
    assert found == VIOLATIONS


def test_what_is_touched_is_large_enough_where_that_is_asked(show):
    """In the article."""
    row = "<button style='width: 9px; height: 9px; padding: 0; border: 0' aria-label=a></button>" * 2
    assert find_violations(show(row, before=f"<nav>{row}</nav>")) == []
    found = find_violations(show(row, before=f"<nav>{row}</nav>"), target_size=True)
    assert [violation.split(":")[0] for violation in found] == ["target-size"] * 2


WIDE = [
    "<pre>" + "x" * 200 + "</pre>",
    f"<table><tr><td>{'x' * 200}</td></tr></table>",
    "<span class='katex-display' style='display: block; overflow: auto'>"
    "<span style='display: inline-block; width: 400px'>y = x</span></span>",
    "<div class='cell_output'><svg width='400' height='10'></svg></div>",
    "<img style='margin-left: -9px; display: block; width: 40px; height: 9px'>",
]
SMALL = (
    "<p style='font-size: 13px'>words</p>"
    "<span class='katex-display'><span class='katex' style='font-size: 11px'>x</span></span>"
)


def test_what_is_too_wide_or_too_small_is_noticed(show):
    fine = "<p>words</p><pre>short</pre><table><tr><td>1</td></tr></table><svg width='40' height='10'></svg>"
    assert show(fine).evaluate(OFF_SCREEN) == {"wide": [], "small": [], "unreadable": []}
    assert [body for body in WIDE if not show(fine + body).evaluate(OFF_SCREEN)["wide"]] == []
    assert [len(found) for found in show(fine + SMALL).evaluate(OFF_SCREEN).values()] == [0, 1, 1]


def test_what_cannot_be_read_of_a_diagram_is_told(show):
    picture = Diagram("A picture.", height=100)
    picture.text(10, 20, "the first line")
    picture.text(40, 22, "the second line")
    picture.text(440, 60, "beyond the edge")
    page = show(f'<div style="width: 350px">{picture.svg.replace("<svg ", "<svg style=width:100% ", 1)}</div>')
    off = ['A picture.: "beyond the edge" is cut off', 'A picture.: "the first line" lies on "the second line"']
    assert page.evaluate(DIAGRAM_FAULTS) == off
    page.evaluate("document.querySelector('article div').style.width = '310px'")
    assert 'A picture.: "the first line" is 9.7 pixels high' in page.evaluate(DIAGRAM_FAULTS)
