"""The front page: its first link that stands alone is a button, and its first list the doors into the course."""

from docutils import nodes

from .buttons import colab_address

RUN = "Run"  # the door that leads into Colab


def is_a_link(paragraph):
    """Whether a paragraph is nothing but one link."""
    words = [child for child in paragraph.children if child.astext().strip()]
    return len(words) == 1 and isinstance(words[0], nodes.reference)


def prepare(app, doctree, docname):
    """Give the page, the button and the doors their classes, which the stylesheet draws.

    A lesson that is built alone is the first page too, but has no button.
    """
    start = next(filter(is_a_link, doctree.findall(nodes.paragraph)), None)
    if docname != app.config.root_doc or start is None:
        return
    page = next(doctree.findall(nodes.section))
    page["classes"].append("course-front")
    start["classes"].append("course-start")
    for doors in page.findall(nodes.bullet_list):
        doors["classes"].append("course-doors")
        open_in_colab(app, doors)
        break


def open_in_colab(app, doors):
    """Let the door to running lead into Colab, once the course is published; until then to a page with buttons."""
    options = app.config.html_theme_options
    for link in doors.findall(nodes.reference):
        page = link.get("refuri", "").removesuffix(".html")
        address = colab_address(options["repository_url"], options["repository_branch"], page)
        if link.astext() == RUN and address:
            link["refuri"] = address


def setup(app):
    """Connect to the pages when their links are known."""
    app.connect("doctree-resolved", prepare)
