"""Widgets need a kernel, the site has none: every widget must bring a picture for it."""

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)
WIDGET = "application/vnd.jupyter.widget-view+json"
STATIC = {"text/html", "image/svg+xml", "image/png"}


def check_widgets(app, doctree):
    """Warn about a widget that would be printed as its Python repr, and drop the widgets' state."""
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") != "mime_bundle":
            continue
        kinds = {child["mime_type"] for child in bundle.children}
        if WIDGET in kinds and not kinds & STATIC:
            logger.warning(
                "a widget has nothing to show without a kernel; display an object whose "
                "_repr_mimebundle_ also offers image/png or text/html",
                location=bundle,
            )
    # Megabytes of JSON that only the widgets' own script could read, which no page loads.
    app.env.nb_metadata.get(app.env.docname, {}).pop("js_files", None)


def setup(app):
    """Connect to the reading of pages."""
    app.connect("doctree-read", check_widgets)
