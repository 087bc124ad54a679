"""Keeps the reference's modules out of the sidebar of all other pages, which lead to its first page alone.

They are twice as many as all other pages together: drawn on each of those, closed, they took an eighth of a build.
"""

from sphinx import addnodes

from .api import INDEX


def is_of_the_reference(pagename):
    """Whether a page is the reference's first or one of its modules'."""
    return pagename == INDEX or pagename.startswith(f"{INDEX}/")


def without_pages_below(toc):
    """A copy of a page's table of contents that leads to no other page."""
    alone = toc.deepcopy()
    for toctree in list(alone.findall(addnodes.toctree)):
        listed = toctree.parent
        listed.remove(toctree)
        if not listed.children:
            listed.parent.remove(listed)
    return alone


def leave_out_modules(app, pagename, templatename, context, doctree):
    """Have a page's tree of all pages end at the reference's first, unless it is of the reference itself."""
    tocs = app.env.tocs
    if INDEX not in tocs or is_of_the_reference(pagename):
        return
    draw = context["toctree"]

    def draw_without(**options):
        whole = tocs[INDEX]
        tocs[INDEX] = without_pages_below(whole)
        try:
            return draw(**options)
        finally:
            tocs[INDEX] = whole

    context["toctree"] = draw_without


def setup(app):
    """Connect to the writing of pages."""
    app.connect("html-page-context", leave_out_modules)
