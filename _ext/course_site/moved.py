"""Places that moved: each old address, of a page or of a part behind its #, leads to the new one."""

import json
from collections import defaultdict
from pathlib import Path

import yaml
from docutils import nodes

from .scripts import HERE, browser_script

LIST = "_moved.yml"
PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{address}">
<script>location.replace({parts}[location.hash] ?? {script} + location.hash)</script>
<meta http-equiv="refresh" content="0; url={address}">
<p>This page has moved <a href="{address}">here</a>.</p>
</html>
"""


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


def validate(app, old, new):
    """Raise ValueError for a move from what is still there, or to what is not."""
    if is_there(app, old) or not is_there(app, new):
        raise ValueError(f"{LIST} must lead from a place that is gone to one that is there, got {old}: {new}")


def lead_on(app, exception):
    """Write a page at the old address of each page that is gone."""
    if exception:
        return
    parts = parts_of(app)
    for old, new in read_moves(app.srcdir).items():
        validate(app, old, new)
        if "#" in old:
            continue
        address = app.builder.get_relative_uri(old, new)
        page = PAGE.format(address=address, script=json.dumps(address), parts=json.dumps(parts.get(old, {})))
        Path(app.outdir, f"{old}.html").write_text(page, encoding="utf-8")


def write_script(app):
    """Put the script where Sphinx finds its checksum."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "moved.js").write_text(browser_script(HERE / "moved.js"), encoding="utf-8")


def load_script(app, pagename, templatename, context, doctree):
    """Tell a page that stands where the parts are that it had before."""
    if parts := parts_of(app).get(pagename):
        app.add_js_file("moved.js", defer="defer", **{"data-parts": json.dumps(parts)})


def setup(app):
    """Connect to the beginning and the end of a build, and to the writing of pages."""
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", load_script)
    app.connect("build-finished", lead_on)
