"""The pages that the sidebar leads to."""

from os.path import normpath

import pytest
from bs4 import BeautifulSoup
from built_site import SITE, page_names

PACKAGE = {name for name in page_names() if name.startswith("api")}
CHAPTERS = {name for name in page_names() if name.startswith("chapters/")}


def sidebar(page_name: str) -> set[str]:
    """The pages of the tree in the sidebar of a page, this one among them."""
    here = SITE / page_name
    _, _, after = here.read_text(encoding="utf8").partition('<nav class="bd-links')
    links = BeautifulSoup(after.partition("</nav>")[0], "html.parser").select("a[href]")
    addresses = (here.name if link["href"] == "#" else link["href"] for link in links)
    return {normpath(here.parent / address).removeprefix(f"{SITE}/") for address in addresses}


@pytest.mark.parametrize("name", ["intro.html", "glossary.html", "chapters/masking.html", "chapters/relative.html"])
def test_it_has_all_chapters_and_of_the_package_the_first_page(name):
    found = sidebar(name)
    assert found >= CHAPTERS
    assert found & PACKAGE == {"api.html"}


@pytest.mark.parametrize("name", ["api.html", "api/masks.html"])
def test_in_the_reference_it_has_all_modules_too(name):
    assert sidebar(name) >= CHAPTERS | PACKAGE
