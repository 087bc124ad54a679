"""The site's own address, index.html, leads to the front page, and is shared and found as that page is."""

from html import escape
from pathlib import Path

from .cards import describe, tags_of, write_tags
from .moved import page_that_leads_on

NAME = "index"


def head_of(app, page, title):
    """What says in the head of a page that it stands for another: the same tags, and the other's address."""
    address = f"{app.config.html_baseurl}{app.builder.get_target_uri(page)}"
    canonical = f'<link rel="canonical" href="{address}">' if app.config.html_baseurl else ""
    return canonical + write_tags(tags_of(app, page, title, describe(app.env.get_doctree(page))))


def write_page(app, exception):
    """Write the page in every build, unless the front page bears its name."""
    front = app.config.root_doc
    if exception or front == NAME:
        return
    address, title = app.builder.get_relative_uri(NAME, front), app.env.titles[front].astext()
    text = f'<a href="{address}">{escape(title)}</a>'
    page = page_that_leads_on(app, NAME, address, title, head_of(app, front, title), text, {})
    Path(app.outdir, f"{NAME}.html").write_text(page, encoding="utf-8")


def setup(app):
    """Connect to the end of a build."""
    app.connect("build-finished", write_page)
