"""Pages that moved: old addresses lead on."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from built_site import MOVED, ROOT
from course_site.moved import validate
from docutils import nodes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chapters/before.html#a-part", "chapters/other.html#a-part"),  # the same place of the new page
        ("page.html#part", "chapters/other.html#a-part"),
        ("chapters/gone.html#part", "chapters/other.html#a-part"),
        ("chapters/gone.html#another-part", "page.html#another-part"),
        ("a_folder/that/is_gone.html", "page.html"),
    ],
)
def test_an_old_address_leads_on(open_sample, sample_host, old, new):
    page = open_sample(old)
    page.wait_for_url(f"{sample_host}/{new}")


@pytest.mark.parametrize("old", ["index.html", "chapters/before.html", "a_folder/that/is_gone.html"])
def test_a_page_that_leads_on_names_the_icon_of_the_site(sample, old):
    (icon,) = BeautifulSoup((sample / old).read_text(encoding="utf-8"), "html.parser").select("link[rel=icon]")
    assert (sample / old).parent.joinpath(icon["href"]).resolve() == (sample / "_static/favicon.svg").resolve()


def test_an_old_address_leads_on_without_scripts(open_sample):
    page = open_sample("chapters/before.html", java_script_enabled=False)
    page.wait_for_url("**/chapters/other.html")


def test_a_part_of_a_page_that_stands_leads_on_within_the_page_and_other_parts_do_not(open_sample):
    page = open_sample("page.html#another-part")
    assert page.title() == "The course"
    page.evaluate("location.hash = 'part'")  # as a link of the page itself would
    page.wait_for_url("**/chapters/other.html#a-part")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chapters/before", "chapters/nowhere"),
        ("chapters/after", "page"),
        ("page#part", "chapters/after#nowhere"),
        ("chapters/after#a-place", "page"),
        ("chapters/before#part", "page"),
    ],
)
def test_a_move_to_nowhere_or_from_a_place_that_stands_is_refused(old, new):
    pages = {"page": [], "chapters/after": [nodes.section(ids=["a-place"])]}
    doctrees = {page: nodes.section("", *sections) for page, sections in pages.items()}
    app = SimpleNamespace(env=SimpleNamespace(found_docs=pages.keys(), get_doctree=doctrees.get))
    validate(app, {"chapters/before": "chapters/after#a-place"})
    with pytest.raises(ValueError, match=f"got {old}: {new}"):
        validate(app, {old: new})


def test_a_part_of_a_page_that_is_gone_needs_a_move_of_the_page():
    """No page would be written that leads it on."""
    app = SimpleNamespace(env=SimpleNamespace(found_docs={"page"}))
    validate(app, {"gone#part": "page", "gone": "page"})
    with pytest.raises(ValueError, match="must also say where gone leads"):
        validate(app, {"gone#part": "page"})


def test_no_old_address_is_a_page_again():
    pages = (ROOT / "_toc.yml").read_text(encoding="utf-8").split()
    assert not set(MOVED) & set(pages)
