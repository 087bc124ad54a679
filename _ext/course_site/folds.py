"""Folded cells on the site: a fold says what is inside, and one button opens all of a page."""

import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

SCRIPT = Path(__file__).with_name("folds.js")
TITLE = re.compile(r"# @title (.*)\n?")
FOLD = '<details class="fold '


def name_folds(app, doctree):
    """Move the title of each folded cell, its first line `# @title ...`, to where the fold is labelled."""
    for cell in doctree.findall(nodes.container):
        code = next(cell.findall(nodes.literal_block), None) if cell.get("hide_mode") == "input" else None
        title = code and TITLE.match(code.astext())
        if title:
            cell["prompt_show"] = title[1]
            rest = code.astext()[title.end() :]
            code.rawsource, code.children = rest, []
            code += nodes.Text(rest)


def visit_fold(self, node):
    """Write a fold. MyST-NB's own has one label for all of them, which hides from a screen reader what it says."""
    classes = " ".join(["fold", "hide", *node["classes"]])
    title = escape(node["prompt_show"])
    self.body.append(f'<details class="{classes}">\n<summary><span class="fold__kind">Code:</span> {title}</summary>\n')


def depart_fold(self, node):
    """End a fold."""
    self.body.append("</details>\n")


def write_script(app):
    """Put the script where Sphinx finds its checksum."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SCRIPT, folder)


def add_script(app, pagename, templatename, context, doctree):
    """Give a page with folds their script."""
    if FOLD in context.get("body", ""):
        app.add_js_file(SCRIPT.name, defer="defer")


def setup(app):
    """Replace MyST-NB's fold, and connect to the build, to the reading and to the writing of pages."""
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    app.connect("builder-inited", write_script)
    app.connect("doctree-read", name_folds)
    app.connect("html-page-context", add_script)
