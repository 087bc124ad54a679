"""The built pages as files: links, images, scripts."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from visits import SITE

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}


@cache
def parse(path: Path) -> BeautifulSoup:
    """The parsed page."""
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")


@cache
def anchors(path: Path) -> set[str]:
    """Every place of a page that a link can lead to."""
    return {tag["id"] for tag in parse(path).find_all(id=True)}


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
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return f"{address}: no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target):
        return f"{address}: no such place on that page"
    return None


def test_links_resolve(page):
    """Every link inside the site leads to a file, and to a place in it."""
    assert [found for address in addresses(page) if (found := problem(page, address))] == []


def test_images_have_a_description(page):
    """Every image says in words what it shows."""
    silent = [str(image)[:120] for image in parse(page).find_all("img") if not image.get("alt", "").strip()]
    assert silent == []


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
