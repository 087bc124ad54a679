"""What a site gains with its address: cards, a list of its pages, a page for what is not there, a copy to take away."""

import subprocess
import sys
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from bs4 import BeautifulSoup
from PIL import Image
from published_book import SITE, make_published_book
from serving import BOOK, PagesHandler, serving
from small_book import build
from visits import HEIGHTS, ROOT, TWO_MODES, WIDTHS, run_axe


@pytest.fixture(scope="module")
def published_site(tmp_path_factory):
    """The folder of a small built site."""
    return make_published_book(tmp_path_factory.mktemp("published_book"))


def parse(site, name):
    """A page of the site."""
    return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def tags(site, name):
    """What a page says of itself to whoever shares it."""
    found = parse(site, name).select("meta[property^='og:'], meta[name='description'], meta[name^='twitter:']")
    return {tag.get("property", tag.get("name")): tag["content"] for tag in found}


def test_a_lesson_is_shared_with_its_question_and_a_card_of_its_own(published_site):
    question = "What do heads see & keep? It is -∞, or so."
    assert tags(published_site, "chapters/multi_head") == {
        "description": question,
        "og:type": "article",
        "og:site_name": "Attention, from the ground up",
        "og:title": "Heads & more",
        "og:description": question,
        "og:url": f"{SITE}chapters/multi_head.html",
        "og:image": f"{SITE}_static/cards/chapters/multi_head.png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "twitter:card": "summary_large_image",
    }


@pytest.mark.parametrize(
    ("name", "said", "card"),
    [
        ("page", "Its first sentence.", "page"),
        ("chapters/further", "No question (Nobody et al. 2020).", "chapters/further"),
        ("glossary", "An animal.", "page"),
    ],
)
def test_other_pages_say_their_first_sentence(published_site, name, said, card):
    found = tags(published_site, name)
    assert (found["og:description"], found["og:image"]) == (said, f"{SITE}_static/cards/{card}.png")


@pytest.mark.parametrize(
    ("card", "colour"),
    [("chapters/multi_head", (210, 229, 241)), ("page", (210, 229, 241)), ("chapters/further", (255, 0, 0))],
)
def test_a_card_shows_a_title_beside_the_first_picture(published_site, card, colour):
    with Image.open(published_site / "_static" / "cards" / f"{card}.png") as image:
        assert image.size == (1200, 630)
        assert image.convert("RGB").getpixel((820, 300)) == pytest.approx(colour, abs=4)
        assert image.convert("RGB").getpixel((250, 450)) == (255, 255, 255)
        left = image.convert("L").crop((0, 0, 480, 315))
        assert left.getextrema()[0] < 60 and left.getextrema()[1] == 255


def test_the_front_page_has_its_title_alone_and_other_pages_the_name_of_the_course_with_it(published_site):
    titles = {name: parse(published_site, name).title.get_text() for name in ("page", "glossary")}
    assert titles == {"page": "The course", "glossary": "Glossary — Attention, from the ground up"}


def test_the_sites_own_address_stands_for_the_front_page(published_site):
    """It is found and shared as that page is, and leads there."""
    page = parse(published_site, "index")
    assert (published_site / "index.html").read_text().startswith("<!DOCTYPE html>\n<html lang=")
    assert page.title.get_text() == page.a.get_text() == "The course"
    assert page.a["href"] == "page.html"
    assert page.select_one("link[rel=canonical]")["href"] == f"{SITE}page.html"
    assert tags(published_site, "index") == tags(published_site, "page")
    assert page.select_one("meta[http-equiv=refresh]")["content"] == "0; url=page.html"


def test_a_page_leaves_out_the_link_that_leads_its_notebook_here(published_site):
    text = parse(published_site, "chapters/multi_head").select_one("article").get_text()
    assert "A paragraph." in text and "This page on the site" not in text


def test_search_engines_are_told_of_every_page(published_site):
    listed = ElementTree.parse(published_site / "sitemap.xml").iterfind("{*}url/{*}loc")
    pages = ["chapters/further", "chapters/multi_head", "glossary", "page"]
    assert [place.text for place in listed] == [f"{SITE}{page}.html" for page in pages]
    assert f"Sitemap: {SITE}sitemap.xml\n" in (published_site / "robots.txt").read_text()
    assert parse(published_site, "glossary").select_one("link[rel=canonical]")["href"] == f"{SITE}glossary.html"


def test_a_released_site_opens_the_notebooks_of_its_tag(published_site):
    buttons = parse(published_site, "chapters/multi_head").select(".course-button")
    assert {button.get_text(strip=True): button["href"] for button in buttons}["Open in Colab"] == (
        "https://colab.research.google.com/github/someone/repository/blob/v1.2/chapters/multi_head.ipynb"
    )


def test_the_front_page_names_its_licence_and_how_to_cite_it(published_site):
    links = {link.get_text(): link["href"] for link in parse(published_site, "page").select(".course-about a")}
    assert list(links) == ["MIT licence", "CITATION.cff", "whole site as one file"]
    assert (published_site / links["MIT licence"]).read_text() == (ROOT / "LICENSE").read_text()
    assert (published_site / links["CITATION.cff"]).read_text() == (ROOT / "CITATION.cff").read_text()


LEFT = (
    "gone.html",
    "chapters/gone.html",
    "gone/for_good.html",
    "_sources/chapters/gone.ipynb",
    "_images/gone.webp",
    "_static/cards/chapters/gone.png",
    "_static/frames/gone.svg",
    "_static/models/gone.js",
)


def test_what_earlier_builds_left_is_taken_away(published_site):
    """And nothing else."""
    needed = {path for path in published_site.rglob("*") if path.is_file()}
    for name in LEFT:
        (published_site / name).parent.mkdir(parents=True, exist_ok=True)
        (published_site / name).write_text("left")
    assert build(published_site.parents[1]).returncode == 0
    assert {path for path in published_site.rglob("*") if path.is_file()} == needed


# --- the page for an address that leads nowhere, as a host shows it ---------------------------------------------------


@pytest.fixture(scope="module")
def host(published_site, tmp_path_factory):
    """The address of a host with the site in its folder `repository`."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "repository").symlink_to(published_site)
    with serving(folder, BOOK, PagesHandler) as address:
        yield address


@pytest.mark.parametrize("path", ["nowhere", "chapters/nowhere", "a/b/c/nowhere/"])
def test_it_is_the_same_page_at_every_depth(open_page, host, path):
    tab = open_page(f"{host}/repository/{path}", "light", "desktop")
    # The page's own status, once as a reply and once as the browser reports it.
    assert [error for error in tab.errors if path not in error and "status of 404" not in error] == []
    assert tab.page.locator("h1").inner_text() == "There is no page here"
    here = f"{host}/repository/"
    assert all(request.startswith((here, "data:")) for request in tab.requests)
    assert [part.split("\n") for part in tab.page.locator("article > ul").all_inner_texts()] == [
        ["First part", "Heads & more"]
    ]
    links = {link.inner_text(): link.get_attribute("href") for link in tab.page.locator("article a").all()}
    assert links == {"Heads & more": "/repository/chapters/multi_head.html"}
    tab.page.locator("article").get_by_role("link", name="Heads & more").click()
    tab.page.wait_for_url(f"{here}chapters/multi_head.html")


def test_its_search_searches_the_course(open_page, host):
    page = open_page(f"{host}/repository/chapters/nowhere/", "light", "desktop").page
    page.get_by_role("searchbox", name="A question").fill("zebra")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{host}/repository/search.html?q=zebra")
    assert page.locator(".course-search-results a").first.get_attribute("href") == "glossary.html#term-zebra"


@pytest.mark.parametrize("mode", TWO_MODES, ids=" ".join)
def test_it_can_be_read_by_all(open_page, host, mode):
    scheme, width = mode
    page = open_page(f"{host}/repository/chapters/nowhere", scheme, width).page
    assert page.evaluate("document.documentElement.scrollWidth") == WIDTHS[width]
    assert page.get_by_role("searchbox", name="A question").bounding_box()["y"] < HEIGHTS[width]
    assert run_axe(page) == []


# --- the site as one file ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(published_site, tmp_path_factory):
    """The folder that the file unpacks to."""
    subprocess.run([sys.executable, ROOT / "tools" / "offline.py"], cwd=published_site.parents[1], check=True)
    folder = tmp_path_factory.mktemp("offline")
    with ZipFile(published_site / "attention-course.zip") as archive:
        archive.extractall(folder)
    (folder,) = folder.iterdir()
    return folder


def test_it_names_no_host_of_its_own(unpacked):
    pages = {
        path.relative_to(unpacked).as_posix(): path.read_text(encoding="utf-8")
        for path in unpacked.rglob("*.html")
        if path.parent.name != "_static"  # what the theme leaves there is no page
    }
    assert set(pages) == {
        *("index.html", "page.html", "search.html", "glossary.html"),
        *("chapters/multi_head.html", "chapters/further.html"),
    }
    for page in pages.values():
        assert SITE.removeprefix("https:") not in page
        assert 'href="/' not in page and 'src="/' not in page
    assert "MIT licence" in pages["page.html"] and "as one file" not in pages["page.html"]
    assert (unpacked / "LICENSE.txt").exists()
    assert not (unpacked / "sitemap.xml").exists() and not (unpacked / "_static" / "cards").exists()


def test_pages_links_explorers_and_search_work(open_page, unpacked):
    tab = open_page((unpacked / "page.html").as_uri(), "light", "desktop")
    page = tab.page
    page.locator("article").get_by_role("link", name="Start").click()
    page.wait_for_url("**/chapters/multi_head.html")
    query = page.locator(".course-explorer-queries button").nth(1)
    query.click()
    assert query.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Control+k")
    page.keyboard.type("zebra")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=zebra")
    page.locator(".course-search-results a").first.click()
    page.wait_for_url("**/glossary.html#term-zebra")
    assert tab.errors == []
    assert [request for request in tab.requests if not request.startswith(("file:", "data:"))] == []
