"""The page for an address that leads nowhere. A host shows it at whatever depth was asked for."""

import re
from pathlib import Path

from .published import site_path

PAGE = "404"
RELATIVE = re.compile(r"""( (?:href|src|action|data-content_root)=")(?![a-z]+:|[/#])(?:\./)?""")


def write_page(app):
    """Have the page written, with the lessons part by part."""
    builder, titles = app.builder, app.env.titles
    parts = [
        (part.caption, [(builder.get_target_uri(page), titles[page].astext()) for page in map(str, part.items)])
        for part in app.config.external_site_map.root.subtrees
        if all(str(page).startswith("chapters/") for page in part.items)
    ]
    yield PAGE, {"parts": parts}, "404.html"


def load_style(app, pagename, templatename, context, doctree):
    """Its search field looks like that of the search page."""
    if pagename == PAGE:
        app.add_css_file("search.css")


def begin_at_the_root(app, exception):
    """Have the page's addresses begin at the root of the host: relative ones would depend on what was asked for."""
    file = Path(app.outdir, f"{PAGE}.html")
    if not exception and file.exists():
        page = RELATIVE.sub(rf"\g<1>{site_path(app.config)}", file.read_text(encoding="utf-8"))
        file.write_text(page, encoding="utf-8")


def setup(app):
    """Connect to the writing of pages, and to the end of a build."""
    app.connect("html-collect-pages", write_page)
    app.connect("html-page-context", load_style)
    app.connect("build-finished", begin_at_the_root)
