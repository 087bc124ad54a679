"""Every page of the site in a real browser, in light and dark, on a desktop and on a phone.

The site is served under the strictest content security policy that its theme allows: see serving.py.
"""

import pytest
from playwright.sync_api import expect
from visits import modes_of, one_of_each_kind

MAX_DARK = 0.05
MIN_LIGHT = 0.8

# How light an explorer's map is, which its script has drawn.
LIGHTNESS = """() => {
  const map = document.querySelector(".course-explorer-view canvas");
  const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
  const shades = [...data].filter((_, i) => i % 4 === 0 && data[i + 3] === 255);
  return shades.reduce((sum, shade) => sum + shade, 0) / shades.length;
}"""


def test_no_errors(visit, page_name, scheme, width):
    """Nothing is logged as an error, and everything asked for arrives."""
    assert visit(page_name, scheme, width).errors == []


def test_no_request_leaves_the_site(visit, page_name, scheme, width, origin):
    """Every request goes to the site itself."""
    foreign = [url for url in visit(page_name, scheme, width).requests if not url.startswith((origin, "data:"))]
    assert foreign == []


def test_accessible(visit, page_name, scheme, width):
    """Axe finds no violation."""
    assert visit(page_name, scheme, width).violations == []


def test_no_sideways_scroll(visit, page_name, scheme, width):
    """What is too wide scrolls in its own box, never the page."""
    assert visit(page_name, scheme, width).overflow == []


def test_the_mode_is_followed(visit, page_name, scheme, width):
    """The page is dark where the reader's system is, light where it is not."""
    background = visit(page_name, scheme, width).background
    assert background > MIN_LIGHT if scheme == "light" else background < MAX_DARK


def test_figures_suit_the_mode(visit, page_name, scheme, width):
    """A figure's background is that of its mode, and its lines stand out from it."""
    for ground, contrast in visit(page_name, scheme, width).figures:
        assert (ground > 0.5 if scheme == "light" else ground < 0.2) and contrast > 0.4


def test_figures_keep_their_proportions(visit, page_name, scheme, width):
    """No figure is squashed to fit."""
    assert visit(page_name, scheme, width).squashed == []


def test_maths_is_drawn(visit, page_name):
    """Every formula is KaTeX's HTML, in KaTeX's own font."""
    seen = visit(page_name, *modes_of(page_name)[0])
    assert seen.unrendered_formulas == []
    assert not seen.formulas or {"KaTeX_Main", "KaTeX_Math"} & set(seen.fonts)


@pytest.mark.parametrize("kind_of_page", one_of_each_kind())
def test_works_from_a_folder(open_page, site, kind_of_page):
    """A page opened from disk is the same page: no error, no request to a host, its icons loaded."""
    tab = open_page((site / kind_of_page).as_uri(), "light", "desktop")
    loaded = "[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
    fonts = tab.page.evaluate(loaded)
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert "Course icons" in [family.strip('"') for family in fonts]


def test_explorers_are_mounted(visit, page_name, scheme, width):
    """Under a content security policy too: no eval and no other host is needed."""
    seen = visit(page_name, scheme, width)
    assert seen.mounted_explorers == seen.explorers


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


def test_the_front_door_leads_to_the_first_page(browser, origin):
    """The site's bare address shows the introduction."""
    page = browser.new_page()
    page.goto(f"{origin}/index.html")
    page.wait_for_url("**/intro.html")
    page.close()
