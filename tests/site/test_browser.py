"""Every page of the site in a real browser, in light and dark, on a desktop and on a phone.

The site is served under the strictest content security policy that its theme allows: see serving.py.
"""

MAX_DARK = 0.05
MIN_LIGHT = 0.8


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


def test_the_mode_is_followed(visit, page_name, width):
    """The page is dark where the reader's system is, light where it is not."""
    assert visit(page_name, "light", width).background > MIN_LIGHT
    assert visit(page_name, "dark", width).background < MAX_DARK


def test_figures_suit_the_mode(visit, page_name):
    """A figure's background is that of its mode, and its lines stand out from it."""
    for ground, contrast in visit(page_name, "light", "desktop").figures:
        assert ground > 0.5 and contrast > 0.4
    for ground, contrast in visit(page_name, "dark", "desktop").figures:
        assert ground < 0.2 and contrast > 0.4


def test_figures_keep_their_proportions(visit, page_name, scheme, width):
    """No figure is squashed to fit."""
    assert visit(page_name, scheme, width).squashed == []


def test_maths_is_drawn(visit, page_name):
    """Every formula is KaTeX's HTML, in KaTeX's own font."""
    seen = visit(page_name, "light", "desktop")
    assert seen.unrendered_formulas == []
    assert not seen.formulas or {"KaTeX_Main", "KaTeX_Math"} & set(seen.fonts)


def test_works_from_a_folder(open_page, site, page_name):
    """A page opened from disk is the same page: no error, no request to a host, its icons loaded."""
    page, errors, requests = open_page((site / page_name).as_uri(), "light", "desktop")
    fonts = page.evaluate("[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)")
    page.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert any("Font Awesome" in family for family in fonts)


def test_explorers_are_mounted(visit, page_name, scheme, width):
    """Under a content security policy too: no eval and no other host is needed."""
    seen = visit(page_name, scheme, width)
    assert seen.mounted_explorers == seen.explorers


def test_the_front_door_leads_to_the_first_page(browser, origin):
    """The site's bare address shows the introduction."""
    page = browser.new_page()
    page.goto(f"{origin}/index.html")
    page.wait_for_url("**/intro.html")
    page.close()
