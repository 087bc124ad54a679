"""Takes away what earlier builds left: pages that are gone, and pictures, models and cards that no page names.

Folders whose names begin with _ are Sphinx's own, and what is in them is no page.
"""

from pathlib import Path
from urllib.parse import unquote

from .front_door import NAME as FRONT_DOOR
from .moved import read_moves
from .not_found import PAGE as NOT_FOUND
from .search import PAGE as SEARCH

SOURCES = "_sources"  # the notebooks to download
# Where what pages name has a file of its own. Scripts and styles name nothing of it.
NAMED = ("_images", "_static/cards", "_static/frames", "_static/models")


def address_of(app, file):
    """A file's address on the site."""
    return file.relative_to(app.outdir).as_posix()


def pages_that_are_there(app):
    """The names of all pages that the site has, old addresses among them."""
    return {*app.env.found_docs, *read_moves(app.srcdir), FRONT_DOOR, SEARCH, NOT_FOUND}


def remove_pages(app):
    """Remove the pages that are gone, and return those that stay."""
    there, stay = pages_that_are_there(app), []
    for file in Path(app.outdir).rglob("*.html"):
        address = address_of(app, file)
        if address.removesuffix(".html") in there:
            stay.append(file)
        elif not address.startswith("_"):
            file.unlink()
    return stay


def remove_sources(app):
    """Remove the sources of pages that are gone."""
    folder = Path(app.outdir, SOURCES)
    for file in folder.rglob("*.*"):
        if file.is_file() and file.relative_to(folder).with_suffix("").as_posix() not in app.env.found_docs:
            file.unlink()


def remove_what_no_page_names(app, pages):
    """Remove the files that no page names, wherever in it: a live model's weights are loaded when it is seen."""
    folders = [Path(app.outdir, folder) for folder in NAMED]
    left = {address_of(app, file): file for folder in folders for file in folder.rglob("*") if file.is_file()}
    for page in pages:
        text = unquote(page.read_text(encoding="utf-8"))
        left = {address: file for address, file in left.items() if address not in text}
    for file in left.values():
        file.unlink()


def tidy(app, exception):
    """Remove all of it when a build has come to its end."""
    if not exception:
        remove_sources(app)
        remove_what_no_page_names(app, remove_pages(app))


def setup(app):
    """Connect to the end of a build, when all pages are written."""
    app.connect("build-finished", tidy, priority=900)
