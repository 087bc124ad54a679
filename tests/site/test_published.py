"""What a site gains with its address: cards, a list of its pages, a page for what is not there, a copy to take away."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from built_site import HEIGHTS, ROOT, WIDTHS
from PIL import Image
from sample_book import ADDRESS
from small_book import read_page
from visits import run_axe

# Nothing that is found: what leads on, and what a host or the site's own search shows.
NO_PAGES = {"index", "404", "search", "chapters/before", "chapters/gone", "a_folder/that/is_gone"}


def tags(site, name):
    """What a page says of itself to whoever shares it."""
    found = read_page(site, name).select("meta[property^='og:'], meta[name='description'], meta[name^='twitter:']")
    return {tag.get("property", tag.get("name")): tag["content"] for tag in found}


def test_a_lesson_is_shared_with_its_question_and_a_card_of_its_own(sample):
    question = "What do heads see & keep? It is -∞, or so."
    assert tags(sample, "chapters/multi_head") == {
        "description": question,
        "og:type": "article",
        "og:site_name": "Attention, from the ground up",
        "og:title": "Heads & more",
        "og:description": question,
        "og:url": f"{ADDRESS}chapters/multi_head.html",
        "og:image": f"{ADDRESS}_static/cards/chapters/multi_head.png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "twitter:card": "summary_large_image",
    }


@pytest.mark.parametrize(
    ("name", "said", "card"),
    [
        ("page", "Its first sentence.", "page"),
        ("chapters/further", "No question (Nobody et al. 2020).", "chapters/further"),
        ("glossary", "Attention whose queries come from elsewhere.", "page"),
    ],
)
def test_other_pages_say_their_first_sentence(sample, name, said, card):
    found = tags(sample, name)
    assert (found["og:description"], found["og:image"]) == (said, f"{ADDRESS}_static/cards/{card}.png")


@pytest.mark.parametrize(
    ("card", "colour"),
    [("chapters/multi_head", (210, 229, 241)), ("page", (210, 229, 241)), ("chapters/further", (255, 0, 0))],
)
def test_a_card_shows_a_title_beside_the_first_picture(sample, card, colour):
    with Image.open(sample / "_static" / "cards" / f"{card}.png") as image:
        assert image.size == (1200, 630)
        assert image.convert("RGB").getpixel((820, 300)) == pytest.approx(colour, abs=4)
        assert image.convert("RGB").getpixel((250, 450)) == (255, 255, 255)
        left = image.convert("L").crop((0, 0, 480, 315))
        assert left.getextrema()[0] < 60 and left.getextrema()[1] == 255


def test_the_front_page_has_its_title_alone_and_other_pages_the_name_of_the_course_with_it(sample):
    titles = {name: read_page(sample, name).title.get_text() for name in ("page", "glossary")}
    assert titles == {"page": "The course", "glossary": "Glossary — Attention, from the ground up"}


def test_the_sites_own_address_stands_for_the_front_page(sample):
    """It is found and shared as that page is, and leads there."""
    page = read_page(sample, "index")
    assert (sample / "index.html").read_text().startswith("<!DOCTYPE html>\n<html lang=")
    assert page.title.get_text() == page.a.get_text() == "The course"
    assert page.a["href"] == "page.html"
    assert page.select_one("link[rel=canonical]")["href"] == f"{ADDRESS}page.html"
    assert tags(sample, "index") == tags(sample, "page")
    assert page.select_one("meta[http-equiv=refresh]")["content"] == "0; url=page.html"


def test_search_engines_are_told_of_every_page(sample):
    listed = ElementTree.parse(sample / "sitemap.xml").iterfind("{*}url/{*}loc")
    files = [path.relative_to(sample).as_posix() for path in sample.rglob("*.html")]
    pages = [name for name in files if name.removesuffix(".html") not in NO_PAGES and not name.startswith("_")]
    assert [place.text for place in listed] == sorted(f"{ADDRESS}{page}" for page in pages)
    assert f"Sitemap: {ADDRESS}sitemap.xml\n" in (sample / "robots.txt").read_text()
    assert read_page(sample, "glossary").select_one("link[rel=canonical]")["href"] == f"{ADDRESS}glossary.html"


def test_the_front_page_names_its_licence_and_how_to_cite_it(sample):
    links = {link.get_text(): link["href"] for link in read_page(sample, "page").select(".course-about a")}
    assert list(links) == ["MIT licence", "CITATION.cff", "whole site as one file"]
    assert (sample / links["MIT licence"]).read_text() == (ROOT / "LICENSE").read_text()
    assert (sample / links["CITATION.cff"]).read_text() == (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("path", ["nowhere", "a/b/c/nowhere/"])
def test_it_is_the_same_page_at_every_depth(open_page, sample_host, path):
    tab = open_page(f"{sample_host}/{path}", "light", "desktop")
    # The page's own status, once as a reply and once as the browser reports it.
    assert [error for error in tab.errors if path not in error and "status of 404" not in error] == []
    assert tab.page.locator("h1").inner_text() == "There is no page here"
    here = f"{sample_host}/"
    assert all(request.startswith((here, "data:")) for request in tab.requests)
    listed = tab.page.locator("article > ul").inner_text().split("\n")
    assert listed == ["First part", "Heads & more", "About <second>", "Last part", "Plain", "The last"]
    links = {link.inner_text(): link.get_attribute("href") for link in tab.page.locator("article a").all()}
    assert links["Heads & more"] == "/repository/chapters/multi_head.html"
    tab.page.locator("article").get_by_role("link", name="Heads & more").click()
    tab.page.wait_for_url(f"{here}chapters/multi_head.html")


def test_its_search_searches_the_course(open_page, sample_host):
    page = open_page(f"{sample_host}/chapters/nowhere/", "light", "desktop").page
    page.get_by_role("searchbox", name="A question").fill("okapi")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{sample_host}/search.html?q=okapi")
    assert page.locator(".course-search-results a").first.get_attribute("href") == "glossary.html#term-okapi"


def test_it_can_be_read_by_all(open_page, sample_host, scheme, width):
    page = open_page(f"{sample_host}/chapters/nowhere", scheme, width).page
    assert page.evaluate("document.documentElement.scrollWidth") == WIDTHS[width]
    assert page.get_by_role("searchbox", name="A question").bounding_box()["y"] < HEIGHTS[width]
    assert run_axe(page) == []


@pytest.fixture(scope="module")
def unpacked(sample, tmp_path_factory):
    book = tmp_path_factory.mktemp("offline")
    shutil.copytree(sample, book / "_build" / "html")
    subprocess.run([sys.executable, ROOT / "tools" / "offline.py"], cwd=book, check=True)
    with ZipFile(book / "_build" / "html" / "attention-course.zip") as archive:
        archive.extractall(book)
    return book / "attention-course"


def test_it_names_no_host_of_its_own(unpacked, sample):
    pages = {path.relative_to(sample) for path in sample.rglob("*.html")} - {Path("404.html")}
    assert {path.relative_to(unpacked) for path in unpacked.rglob("*.html")} == pages
    for page in pages:
        text = (unpacked / page).read_text(encoding="utf-8")
        assert ADDRESS.removeprefix("https:") not in text
        assert 'href="/' not in text and 'src="/' not in text
    front = (unpacked / "page.html").read_text(encoding="utf-8")
    assert "MIT licence" in front and "as one file" not in front
    assert (unpacked / "LICENSE.txt").exists()
    assert not (unpacked / "sitemap.xml").exists() and not (unpacked / "_static" / "cards").exists()


def test_pages_links_explorers_and_search_work(open_page, unpacked):
    tab = open_page((unpacked / "page.html").as_uri(), "light", "desktop")
    page = tab.page
    page.locator("article").get_by_role("link", name="Start here").click()
    page.wait_for_url("**/chapters/multi_head.html")
    query = page.locator(".course-explorer-queries button").nth(1)
    query.click()
    assert query.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Control+k")
    page.keyboard.type("okapi")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=okapi")
    page.locator(".course-search-results a").first.click()
    page.wait_for_url("**/glossary.html#term-okapi")
    assert tab.errors == []
    assert [request for request in tab.requests if not request.startswith(("file:", "data:"))] == []
