"""The top of a page on the site: one fold before the first picture, which comes soon, and at its end what it ran with.

A notebook has a cell for its setup, one for its imports and one for its first picture, and the setup prints a line.
"""

import re
from html import escape
from itertools import takewhile

from docutils import nodes

# A browser runs a script of the page when the style sheets above it are there. It stops reading until then, draws what
# it has, and reads on. Without one it may lay out the whole page, and run the scripts that wait for its end, before it
# draws.
PAUSE = "<script>/* The first picture is drawn before the rest is read. */</script>"
RAN_WITH = re.compile(r"PyTorch \S+ on .+, seed \d+\s*")  # what `attention_course.setup()` prints


def is_code_cell(node):
    """Whether a node is a cell of code."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def outputs_of(cell):
    """The part of a cell that holds what it showed; `None` where there is nothing."""
    return next((part for part in cell if part.get("nb_element") == "cell_code_output"), None)


def take_versions(doctree):
    """Take the line on versions out of the cell that printed it; the line, or `None` where there is none."""
    for cell in filter(is_code_cell, list(doctree.findall(nodes.container))):
        outputs = outputs_of(cell)
        if outputs is not None and RAN_WITH.fullmatch(outputs.astext()):
            cell.remove(outputs)
            return outputs.astext().strip()
    return None


def opening_folds(doctree):
    """The folded cells that follow each other at the top, up to the first that shows something."""
    folds = [
        cell for cell in doctree.findall(nodes.container) if is_code_cell(cell) and cell.get("hide_mode") == "input"
    ]
    siblings = folds[0].parent.children[folds[0].parent.index(folds[0]) :] if folds else []
    found = []
    for cell in takewhile(lambda sibling: sibling in folds, siblings):
        found.append(cell)
        if outputs_of(cell) is not None:
            break
    return found


def merge_folds(folds):
    """Put the code of these cells into the fold of the last, each part under its own title."""
    parts = [(nodes.paragraph("", cell["prompt_show"]), *cell[0].children) for cell in folds]
    folds[-1][0].children = []
    folds[-1][0] += [part for together in parts for part in together]
    for cell in folds[:-1]:
        cell.parent.remove(cell)


def pause_behind(cell):
    """Have browsers draw a page as far as here, before they read on."""
    cell.parent.insert(cell.parent.index(cell) + 1, nodes.raw("", PAUSE, format="html"))


def prepare(app, doctree):
    """Mend the top of a page, and note what it ran with."""
    app.env.metadata[app.env.docname]["ran_with"] = take_versions(doctree)
    folds = opening_folds(doctree)
    if folds:
        pause_behind(folds[-1])
    if len(folds) > 1:
        merge_folds(folds)


def add_versions(app, pagename, templatename, context, doctree):
    """Say last what a page ran with. The line is no part of its document, which is searched."""
    line = app.env.metadata.get(pagename, {}).get("ran_with")
    if line:
        context["body"] += f'<p class="course-ran-with">This page ran with {escape(line)}.</p>\n'


def setup(app):
    """Connect to the reading of pages, after the folds have their titles, and to their writing."""
    app.connect("doctree-read", prepare)
    app.connect("html-page-context", add_versions)
