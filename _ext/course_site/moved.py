"""Pages that moved: each old address leads to the new one, with the part behind its #."""

import json
from pathlib import Path

import yaml

LIST = "_moved.yml"
PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{address}">
<script>location.replace({script} + location.hash)</script>
<meta http-equiv="refresh" content="0; url={address}">
<p>This page has moved <a href="{address}">here</a>.</p>
</html>
"""


def read_moves(folder):
    """The old and the new names of pages: `{"chapters/before": "chapters/after"}`; none where there is no list."""
    file = Path(folder, LIST)
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}


def lead_on(app, exception):
    """Write a page at each old address."""
    if exception:
        return
    for old, new in read_moves(app.srcdir).items():
        if old in app.env.found_docs or new not in app.env.found_docs:
            raise ValueError(f"{LIST} must lead from a page that is gone to one that is there, got {old}: {new}")
        address = app.builder.get_relative_uri(old, new)
        page = PAGE.format(address=address, script=json.dumps(address))
        Path(app.outdir, f"{old}.html").write_text(page, encoding="utf-8")


def setup(app):
    """Connect to the end of a build."""
    app.connect("build-finished", lead_on)
