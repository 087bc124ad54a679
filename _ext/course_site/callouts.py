"""A block quote that opens with a bold word is a call-out: `> **Trap** ...` gets the class of its word."""

from docutils import nodes


def mark_callouts(app, doctree):
    """Give every call-out its classes, which the stylesheet colours."""
    for quote in doctree.findall(nodes.block_quote):
        opening = next(quote.findall(nodes.paragraph), nodes.paragraph())
        # The Markdown reader leaves an empty text before a paragraph's first word.
        words = [child for child in opening.children if child.astext()]
        if words and isinstance(words[0], nodes.strong):
            word = nodes.make_id(words[0].astext().split()[0])
            quote["classes"] += ["callout", f"callout-{word}"]


def setup(app):
    """Connect to the reading of pages."""
    app.connect("doctree-read", mark_callouts)
