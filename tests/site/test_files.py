"""The built pages as files: links, images, scripts."""

import re
from functools import cache
from html import unescape
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from visits import SITE

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
ID = re.compile(r'<\w[^<>]*?\sid="([^"]*)"')


@cache
def parse(path: Path) -> BeautifulSoup:
    """The parsed page."""
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")


@cache
def anchors(path: Path) -> set[str] | None:
    """Every place of a page that a link can lead to; none of another file, and None where there is no file.

    Every page links to nearly all others, and a parser takes a second for a long one.
    """
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf8") if path.suffix == ".html" else ""
    return {unescape(found) for found in ID.findall(text)}


@pytest.fixture
def page(site: Path, page_name: str) -> Path:
    """The file of one page."""
    return site / page_name


def addresses(page: Path) -> list[str]:
    """Every address a page names."""
    return [tag[name] for kind, name in LINKS.items() for tag in parse(page).find_all(kind) if tag.get(name)]


def problem(page: Path, address: str) -> str | None:
    """What is wrong with a link of a page, or None; links to other sites are not followed."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = Path(normpath(page.parent / unquote(parts.path))) if parts.path else page
    places = anchors(target)
    if places is None:
        return f"{address}: no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in places:
        return f"{address}: no such place on that page"
    return None


def test_links_resolve(page):
    """Every link inside the site leads to a file, and to a place in it."""
    assert [found for address in addresses(page) if (found := problem(page, address))] == []


def test_images_have_a_description(page):
    """Every image says in words what it shows."""
    silent = [str(image)[:120] for image in parse(page).find_all("img") if not image.get("alt", "").strip()]
    assert silent == []


def test_images_say_how_large_they_are(page):
    """Every image has its room before it arrives, so that nothing on the page moves when it does."""
    images = parse(page).find_all("img")
    unsized = [image for image in images if min(int(image.get(side, 0)) for side in ("width", "height")) < 1]
    assert [str(image)[:120] for image in unsized] == []


def test_every_icon_is_in_the_icon_font(page):
    """The font has no other icons than those that icons.py names."""
    icons = parse(page).select(".fa-solid, .fa-brands")
    shown = {name for tag in icons for name in tag["class"] if name.startswith("fa-")}
    style = (SITE / "_static" / "icons.css").read_text()
    assert shown, "no page is without an icon"
    assert [name for name in shown - {"fa-solid", "fa-brands"} if f".{name}" not in style] == []


def test_nothing_is_loaded_from_elsewhere(page):
    """No script, style, image or frame has an address on another host."""
    tags = [(tag, tag.get(LINKS[tag.name], "")) for tag in parse(page).find_all(["script", "img", "iframe", "source"])]
    tags += [(tag, tag["href"]) for tag in parse(page).find_all("link", rel="stylesheet")]
    assert [str(tag)[:120] for tag, address in tags if urlsplit(address).netloc] == []


def test_no_widget_is_left_without_a_kernel(page):
    """No page holds a widget's state, its script, or the text that stands for it."""
    text = page.read_text(encoding="utf8")
    assert "vnd.jupyter.widget" not in text
    assert "interactive(children=" not in text


def test_maths_needs_no_script(page):
    """No formula waits for a renderer in the reader's browser."""
    names = [tag["src"].lower() for tag in parse(page).find_all("script", src=True)]
    assert not [name for name in names if "mathjax" in name or "require" in name or "katex" in name]


def test_katex_stylesheet_and_renderer_are_of_one_version():
    """Formulas drawn by one version of KaTeX and styled by another come out crooked."""
    from sphinxcontrib.katex import katex_version

    css = (SITE / "_static" / "katex" / "katex.min.css").read_text()
    assert f'.katex .katex-version:after{{content:"{katex_version}"}}' in css
