"""Mends HTML of other libraries that a screen reader stumbles over."""

REPAIRS = {
    # docutils: the entries of a bibliography and their list have roles that exclude what is in them.
    ' role="doc-biblioentry"': "",
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    # pandas: the corner of a table is no heading of anything.
    "<th></th>": "<td></td>",
    # The Markdown reader: likewise.
    '<th class="head"><p></p></th>': "<td></td>",
}


def mend(app, pagename, templatename, context, doctree):
    """Apply the repairs to the body of a page."""
    for wrong, right in REPAIRS.items():
        context["body"] = context.get("body", "").replace(wrong, right)


def name_folds(app, pagename, templatename, context, doctree):
    """Say what each fold of the sidebar opens: the theme draws an arrow and no word."""
    draw = context["generate_toctree_html"]

    def draw_named(*args, **options):
        soup = draw(*args, **options)
        for summary in soup("summary"):
            summary["aria-label"] = f"Pages in: {summary.parent.parent.a.get_text(strip=True)}"
        return soup

    context["generate_toctree_html"] = draw_named


def setup(app):
    """Connect to the writing of pages, after the theme."""
    app.connect("html-page-context", mend)
    app.connect("html-page-context", name_folds, priority=900)
