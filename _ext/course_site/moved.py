"""Places that moved: each old address, of a page or of a part behind its #, leads to the new one."""

import json
from collections import defaultdict
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.osutil import relative_uri

from .scripts import HERE, browser_script

LIST = "_moved.yml"
PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<link rel="icon" href="{icon}">
{head}
<script>location.replace({parts}[location.hash] ?? {script} + location.hash)</script>
<meta http-equiv="refresh" content="0; url={address}">
<p>{text}</p>
</html>
"""
HEAD = """\
<meta name="robots" content="noindex">
<link rel="canonical" href="{address}">"""


def read_moves(folder):
    """Old and new places, `{"chapters/before": "chapters/after", "chapters/stands#part": "chapters/after#part"}`."""
    file = Path(folder, LIST)
    return (yaml.safe_load(file.read_text(encoding="utf-8")) or {}) if file.exists() else {}


def split(place):
    """A page and the part behind its #, which may be ''."""
    page, _, part = place.partition("#")
    return page, part


def parts_of(app):
    """For each page with parts that moved, their addresses as seen from it: `{page: {"#part": address}}`."""
    found = defaultdict(dict)
    for (old, part), (new, new_part) in ((split(old), split(new)) for old, new in read_moves(app.srcdir).items()):
        if part:
            found[old][f"#{part}"] = f"{app.builder.get_relative_uri(old, new)}#{new_part}"
    return found


def is_there(app, place):
    """Whether the site has a page, or this part of it."""
    page, part = split(place)
    if page not in app.env.found_docs or not part:
        return page in app.env.found_docs
    return any(part in node["ids"] for node in app.env.get_doctree(page).findall(nodes.Element))


def validate(app, moves):
    """Raise ValueError for a move that leads nobody on.

    Args:
        app: Sphinx.
        moves: Old and new places.

    Raises:
        ValueError: For a move from what is still there or to what is not, and for one of a part whose page is gone and
            leads nowhere itself.
    """
    for old, new in moves.items():
        if is_there(app, old) or not is_there(app, new):
            raise ValueError(f"{LIST} must lead from a place that is gone to one that is there, got {old}: {new}")
        page = split(old)[0]
        if page not in moves and not is_there(app, page):
            raise ValueError(f"{LIST} must also say where {page} leads, which is gone, got {old}: {new}")


def page_that_leads_on(app, name, address, title, head, text, parts):
    """A page that sends its reader elsewhere, with and without scripts.

    Args:
        app: Sphinx.
        name: The page's own address, without ".html".
        address: Where it leads to.
        title: Its title.
        head: What stands in its head besides, as HTML.
        text: What is read where a browser stays on it, as HTML.
        parts: Where its parts lead that lead elsewhere, `{"#part": address}`.
    """
    # A browser that finds no icon named looks for one at the root of the host, where another site may be.
    icon = relative_uri(f"{name}.html", f"_static/{Path(app.config.html_favicon).name}")
    addresses = {"address": address, "script": json.dumps(address), "parts": json.dumps(parts)}
    return PAGE.format(title=escape(title), icon=icon, head=head, text=text, **addresses)


def lead_on(app, exception):
    """Write a page at the old address of each page that is gone."""
    if exception:
        return
    moves, parts = read_moves(app.srcdir), parts_of(app)
    validate(app, moves)
    for old, new in moves.items():
        if "#" in old:
            continue
        address = app.builder.get_relative_uri(old, new)
        text = f'This page has moved <a href="{address}">here</a>.'
        head = HEAD.format(address=address)
        page = page_that_leads_on(app, old, address, "This page has moved", head, text, parts.get(old, {}))
        file = Path(app.outdir, f"{old}.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")


def write_script(app):
    """Put the script where Sphinx finds its checksum."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "moved.js").write_text(browser_script(HERE / "moved.js"), encoding="utf-8")


def load_script(app, pagename, templatename, context, doctree):
    """Tell a page that stands where the parts are that it had before."""
    if parts := parts_of(app).get(pagename):
        app.add_js_file("moved.js", defer="defer", **{"data-parts": json.dumps(parts)})


def with_other_parts(app, env):
    """The pages whose parts that moved are others than in the last build: what they tell the script is in them."""
    parts, last = dict(parts_of(app)), getattr(env, "course_moved", {})
    env.course_moved = parts
    return [page for page in env.found_docs if parts.get(page) != last.get(page)]


def setup(app):
    """Connect to the beginning and the end of a build, and to the writing of pages."""
    app.connect("builder-inited", write_script)
    app.connect("env-updated", with_other_parts)
    app.connect("html-page-context", load_script)
    app.connect("build-finished", lead_on)
