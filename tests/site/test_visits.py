"""What a visit looks at is enough: one text of each kind stands for the others, and no kind is left out."""

from itertools import product

import pytest
from visits import SCHEMES, WIDTHS, find_violations

PAGE = """<!doctype html><html lang="en"><title>Text</title><main><h1>Text</h1>
<style>body {{ background: #fff; color: #222 }} .dark {{ background: #333 }} .pale {{ color: #ccc }}</style>
{body}</main>"""
FINE = "<p>dark on white</p>" * 50

BODIES = {
    "fine": (FINE, 0),
    "one pale among many": (FINE + "<p class=pale>pale on white</p>", 1),
    "the same pale many times": (FINE + "<p class=pale>pale on white</p>" * 50, 1),
    "pale is fine on dark": (FINE + "<div class=dark><p class=pale>pale on dark</p></div>", 0),
    "the same colour on another ground": (FINE + "<div class=dark><p>dark on dark</p></div>", 1),
    "made pale by its parent": (FINE + "<div style='opacity: .3'><p>faded</p></div>", 1),
    "in a line of a paragraph": (FINE + "<p>dark and <em class=pale>pale</em></p>", 1),
}


@pytest.mark.parametrize(("body", "n_violations"), BODIES.values(), ids=BODIES)
def test_every_kind_of_text_is_looked_at(browser, body, n_violations):
    page = browser.new_page()
    page.set_content(PAGE.format(body=body))
    assert len(find_violations(page, "dark", "desktop")) == n_violations
    page.close()


def test_other_rules_hold_in_each_scheme_and_at_each_width(browser):
    page = browser.new_page()
    page.set_content(PAGE.format(body="<img src='data:,'>"))
    found = [mode for mode in product(SCHEMES, WIDTHS) if find_violations(page, *mode)]
    assert {scheme for scheme, _ in found} == set(SCHEMES)
    assert {width for _, width in found} == set(WIDTHS)
    page.close()
