"""Every image says how wide and how high it is, so that what stands below it does not move when it arrives."""

import re
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote

import imagesize

IMAGE = re.compile(r"<img\b[^>]*?>")
SOURCE = re.compile(r'\bsrc="([^"]+)"')
SIZE = re.compile(r"\b(?:width|height)=")


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

    def add_size(match):
        image = match[0]
        if SIZE.search(image):
            return image
        width, height = imagesize.get(find_file(app, pagename, SOURCE.search(image)[1]))
        return f'<img width="{round(width)}" height="{round(height)}"{image.removeprefix("<img")}'

    context["body"] = IMAGE.sub(add_size, context.get("body", ""))


def setup(app):
    """Connect to the writing of pages, after explorers have written their frames to files."""
    app.connect("html-page-context", add_sizes, priority=600)
