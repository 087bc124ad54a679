"""Mends HTML of other libraries that a screen reader stumbles over."""

REPAIRS = {
    # docutils: the entries of a bibliography and their list have roles that exclude what is in them.
    ' role="doc-biblioentry"': "",
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    # pandas: the corner of a table is no heading of anything.
    "<th></th>": "<td></td>",
}


def mend(app, pagename, templatename, context, doctree):
    """Apply the repairs to the body of a page."""
    for wrong, right in REPAIRS.items():
        context["body"] = context.get("body", "").replace(wrong, right)


def setup(app):
    """Connect to the writing of pages."""
    app.connect("html-page-context", mend)
