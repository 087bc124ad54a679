"""A page asks for what it uses, and its scripts wait until what is read is there."""

from pathlib import PurePosixPath

# Keys for Sphinx's own search and marks on the words it found: the site has another search (search.py).
UNUSED = {"doctools.js", "sphinx_highlight.js"}
# Scripts that not every page has a use for, and what stands in the body of a page that has.
CODE = 'class="highlight'
SIGNS = {"clipboard.min.js": CODE, "copybutton.js": CODE}


def is_used(file, body):
    """Whether a page has a use for a script or for a style sheet.

    A script without a name stands in the page itself: the theme's only one tells a switch between versions, which the
    site does not have, where it is.
    """
    name = file.filename and PurePosixPath(file.filename).name
    return bool(name) and name not in UNUSED and SIGNS.get(name, "") in body


def lighten(app, pagename, templatename, context, doctree):
    """Leave out what a page does not use. Sphinx restores both lists for the next page."""
    for files in (context["css_files"], context["script_files"]):
        files[:] = [file for file in files if is_used(file, context.get("body", ""))]
    for script in context["script_files"]:
        script.attributes["defer"] = "defer"


def setup(app):
    """Connect to the writing of pages, when every other part has added its files."""
    app.connect("html-page-context", lighten, priority=950)
