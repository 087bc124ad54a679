"""Every image says how wide and how high it is, so that nothing moves when it arrives, and comes when it is near.

An image that is its page's first picture is asked for at once, before scripts.
"""

import re
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote

import imagesize

IMAGE = re.compile(r"<img\b[^>]*?>")
DRAWN = re.compile(r'<svg [^>]*(class="course-diagram"|role="img")')
SOURCE = re.compile(r'\bsrc="([^"]+)"')


def find_file(app, pagename, address):
    """The file of an image by its address on a page; Sphinx copies those of notebooks when all pages are written."""
    path = Path(normpath(Path(app.outdir, pagename).parent / unquote(address)))
    folder, name = path.parent.name, path.name
    if folder != app.builder.imagedir:
        return path
    sources = {written: source for source, written in app.builder.images.items()}
    return Path(app.srcdir, sources[name])


def add_sizes(app, pagename, templatename, context, doctree):
    """Write the sizes into the body of a page; a style sheet or a style makes the images as wide as they are shown."""

    body = context.get("body", "")
    first = IMAGE.search(body)
    leads = first and not DRAWN.search(body, 0, first.start())

    def add_size(match):
        width, height = imagesize.get(find_file(app, pagename, SOURCE.search(match[0])[1]))
        when = ' fetchpriority="high"' if leads and match.start() == first.start() else ' loading="lazy"'
        return f'<img width="{round(width)}" height="{round(height)}"{when}{match[0].removeprefix("<img")}'

    context["body"] = IMAGE.sub(add_size, body)


def setup(app):
    """Connect to the writing of pages, after explorers have written their frames to files."""
    app.connect("html-page-context", add_sizes, priority=600)
