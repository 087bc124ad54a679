"""The first picture of each lesson on one page, large, for a projector; it can fill the window without a script."""

import re
from html import unescape

from docutils import nodes

from .path import lessons_of

PAGE = "instructors/pictures"
DIAGRAM = re.compile(r'<svg [^>]*class="course-diagram".*?<title>(?P<title>.*?)</title>.*?</svg>', re.DOTALL)
EXPLORER = 'class="course-explorer"'


def first_diagram(doctree):
    """The first diagram that stands for itself, not in an explorer; `None` where there is none."""
    raws = (node.astext() for node in doctree.findall(nodes.raw) if node["format"] == "html")
    return next((found[0] for html in raws if EXPLORER not in html and (found := DIAGRAM.search(html))), None)


def note_picture(app, doctree):
    """Note a page's first diagram down."""
    picture = first_diagram(doctree)
    if picture:
        app.env.metadata[app.env.docname]["picture"] = picture


def name_of(page):
    """The id of a page's picture, which fills the window while it is the address's target."""
    return nodes.make_id(f"picture-{page.rpartition('/')[2]}")


def figure(picture, page, following):
    """A picture with the links that show it alone, lead on, and close it."""
    after = f'<a class="course-alone" href="#{name_of(following)}">Next</a>' if following else ""
    return nodes.raw(
        "",
        f'<div class="course-projector" id="{name_of(page)}">{picture}<p>'
        f'<a class="course-beside" href="#{name_of(page)}">Show it alone</a>{after}'
        f'<a class="course-alone" href="#{section_of(page)}">Close</a></p></div>',
        format="html",
    )


def section_of(page):
    """The id of the section that a page's picture stands in."""
    return nodes.make_id(page.rpartition("/")[2])


def section(app, page, following):
    """A lesson's picture under the lesson's title, with what it shows."""
    picture, title = app.env.metadata[page]["picture"], app.env.titles[page].astext()
    link = nodes.reference("", title, internal=True, refuri=app.builder.get_relative_uri(PAGE, page))
    what = unescape(DIAGRAM.search(picture)["title"])
    return nodes.section(
        "",
        nodes.title("", title),
        nodes.paragraph("", f"{what}. From ", link, nodes.Text(".")),
        figure(picture, page, following),
        ids=[section_of(page)],
    )


def fill_page(app, doctree, docname):
    """Append the lessons' pictures in the order of the book."""
    if docname != PAGE:
        return
    pages = [page for page in lessons_of(app.env)[0][1:] if app.env.metadata[page].get("picture")]
    place = next(doctree.findall(nodes.section))
    place += [section(app, page, following) for page, following in zip(pages, [*pages[1:], None], strict=True)]


def write_page_again(app, env):
    """Have the page written in every build: any lesson may have changed its picture."""
    return [PAGE] if PAGE in env.found_docs else []


def setup(app):
    """Connect to the reading of lessons, and to the writing of the page."""
    app.connect("doctree-read", note_picture)
    app.connect("env-updated", write_page_again)
    app.connect("doctree-resolved", fill_page)
