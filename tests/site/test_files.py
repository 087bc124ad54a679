"""The built pages as files: links, images, scripts. Each is read once, tag by tag: a tree takes ten times as long."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

from built_site import SITE

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
LOADED = {"script", "img", "iframe", "source"}
STYLES = {"fa-solid", "fa-brands"}
SIDES = ("width", "height")
ID = re.compile(r'<\w[^<>]*?\sid="([^"]*)"')
PICTURE = re.compile(r'<img\b[^>]*>|<svg\b[^>]*\b(?:class="course-diagram"|role="img")')
RENDERERS = ("mathjax", "require", "katex")


class Tags(HTMLParser):
    """Every tag that opens in a text: its name and its attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


@cache
def anchors(path: Path) -> set[str] | None:
    """Every place of a page that a link can lead to; none of another file, and None where there is no file."""
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf8") if path.suffix == ".html" else ""
    return {unescape(found) for found in ID.findall(text)}


@cache
def icons() -> str:
    """The style of the icons, which names each that the font has."""
    return (SITE / "_static" / "icons.css").read_text()


def leads_nowhere(page: Path, address: str) -> bool:
    """Whether a link inside the site leads to no file, or to no place in it."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return False
    target = Path(normpath(page.parent / unquote(parts.path))) if parts.path else page
    places = anchors(target)
    if places is None:
        return True
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in places


def from_elsewhere(tag: str, attributes: dict) -> bool:
    """Whether a script, style, image or frame has an address on another host."""
    loaded = tag in LOADED or (tag == "link" and "stylesheet" in attributes.get("rel", "").split())
    return loaded and bool(urlsplit(attributes.get(LINKS[tag], "")).netloc)


def faults_of_a_file(page: Path, text: str) -> dict[str, list]:
    """What is wrong with a page as a file, by name; nothing where all is well."""
    tags = Tags(text).found
    images = [attributes for tag, attributes in tags if tag == "img"]
    addresses = [attributes[LINKS[tag]] for tag, attributes in tags if tag in LINKS and attributes.get(LINKS[tag])]
    scripts = [attributes["src"].lower() for tag, attributes in tags if tag == "script" and "src" in attributes]
    classes = [set(attributes.get("class", "").split()) for _, attributes in tags]
    shown = {name for names in classes if names & STYLES for name in names - STYLES if name.startswith("fa-")}
    faults = {
        "links that lead nowhere": [address for address in addresses if leads_nowhere(page, address)],
        "images without a description": [image for image in images if not image.get("alt", "").strip()],
        # They have no room before they arrive, and things move when they do.
        "images without a size": [one for one in images if min(int(one.get(side, 0)) for side in SIDES) < 1],
        "icons that are not in the font": [name for name in shown if f".{name}" not in icons()],
        "no icons": [] if shown else ["there are some on every page"],
        "loaded from elsewhere": [one for one in tags if from_elsewhere(*one)],
        "widgets without a kernel": re.findall(r"vnd\.jupyter\.widget|interactive\(children=", text),
        "formulas that wait for a script": [name for name in scripts if any(one in name for one in RENDERERS)],
    }
    return {name: found for name, found in faults.items() if found}


def test_a_file_has_no_fault(site, page_name):
    assert faults_of_a_file(site / page_name, (site / page_name).read_text(encoding="utf8")) == {}


def test_every_fault_of_a_file_is_seen(site):
    """On a page that has one of each."""
    bad = """<a href="nowhere.html">a</a><a href="intro.html#no-place">b</a>
      <img src="https://example.org/x.png" alt=" "><i class="fa-solid fa-unheard-of"></i>
      <script src="katex.js"></script>interactive(children="""
    assert [len(found) for found in faults_of_a_file(site / "intro.html", bad).values()] == [3, 1, 1, 1, 1, 1, 1]
    assert list(faults_of_a_file(site / "intro.html", "")) == ["no icons"]


def test_katex_stylesheet_and_renderer_are_of_one_version():
    """Formulas drawn by one version of KaTeX and styled by another come out crooked."""
    from sphinxcontrib.katex import katex_version

    css = (SITE / "_static" / "katex" / "katex.min.css").read_text()
    assert f'.katex .katex-version:after{{content:"{katex_version}"}}' in css


def test_an_image_is_asked_for_first_where_it_is_the_first_picture():
    leads = []
    for file in (SITE / "chapters").glob("*.html"):
        _, _, article = file.read_text(encoding="utf-8").partition("<article")
        for place, picture in enumerate(PICTURE.findall(article)):
            if picture.startswith("<img"):
                high, lazy = 'fetchpriority="high"' in picture, 'loading="lazy"' in picture
                assert (high, lazy) == ((False, True) if place else (True, False)), file
                leads.append(place == 0)
    assert any(leads) and not all(leads)
