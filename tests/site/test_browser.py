"""Every page of the site in a real browser, in light and dark, on a desktop and on a phone.

The site is served under the strictest content security policy that its theme allows: see serving.py.
"""

import pytest
from built_site import ROOT, SITE, page_names
from choosing import weekly
from faults import find_faults
from playwright.sync_api import expect
from visits import IN_ALL_MODES, OF_THE_REFERENCE, VIEW, one_of_each_kind, visits

IN_A_FOLDER = ["chapters/scaled_dot_product.html"]  # with an explorer, formulas, checks and code

# How light an explorer's map is, which its script has drawn.
LIGHTNESS = """() => {
  const map = document.querySelector(".course-explorer-view canvas");
  const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
  const shades = [...data].filter((_, i) => i % 4 === 0 && data[i + 3] === 255);
  return shades.reduce((sum, shade) => sum + shade, 0) / shades.length;
}"""


@pytest.mark.parametrize(("page_name", "scheme", "width"), visits())
def test_a_page_has_no_fault(visit, origin, page_name, scheme, width):
    """None of all that faults.py looks for, from errors and axe's findings to lines that wrap badly."""
    assert find_faults(visit(page_name, scheme, width), page_name, scheme, width, origin) == {}


@pytest.mark.parametrize("kind_of_page", [*IN_A_FOLDER, *map(weekly, one_of_each_kind())])
def test_works_from_a_folder(open_page, site, kind_of_page):
    """A page opened from disk is the same page: no error, no request to a host, its icons loaded."""
    tab = open_page((site / kind_of_page).as_uri(), "light", "desktop")
    loaded = "[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
    fonts = tab.page.evaluate(loaded)
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert "Course icons" in [family.strip('"') for family in fonts]


def test_what_stands_for_others_is_there():
    """Pages by their names, and each view of an explorer on a page of its kind."""
    assert IN_ALL_MODES | OF_THE_REFERENCE <= set(page_names())
    views = {path.stem for path in (ROOT / "attention_course/explore/views").glob("*.js")}
    assert {view for name in one_of_each_kind() for view in VIEW.findall((SITE / name).read_text())} == views


def test_paper_is_light(open_page, origin):
    """Also of a dark page, whose colours are back afterwards; some browsers tell only one of the two ways."""
    page = open_page(f"{origin}/chapters/self_attention.html", "dark", "desktop").page
    ways = {
        "print": lambda begins: page.emulate_media(media="print" if begins else "screen"),
        "events": lambda begins: page.evaluate(f"dispatchEvent(new Event('{'before' if begins else 'after'}print'))"),
    }
    for tell in ways.values():
        for theme, begins in (("light", True), ("dark", False)):
            tell(begins)
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            assert (page.evaluate(LIGHTNESS) > 200) == begins
