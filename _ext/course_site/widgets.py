"""Widgets need a kernel and the site has none: one whose cell offers nothing else is reported."""

from myst_nb.core.render import WIDGET_VIEW_MIMETYPE, NbElementRenderer
from sphinx.util import logging

logger = logging.getLogger(__name__)
STATIC = {"text/html", "image/svg+xml", "image/png"}


def render_nothing(self, data):
    """Stand in for MyST-NB's rendering of a widget, which only its own scripts could show."""
    _, outputs = self.renderer.nb_client.code_cell_outputs(data.cell_index)
    # Not by its index: MyST-NB counts the printed parts between two pictures as one, the notebook each.
    bundles = [output["data"] for output in outputs if WIDGET_VIEW_MIMETYPE in output.get("data", {})]
    (own,) = (bundle for bundle in bundles if bundle[WIDGET_VIEW_MIMETYPE] == data.content)
    if not STATIC & set(own):
        logger.warning(
            f"the widget of cell {data.cell_index + 1} draws nothing, and the site has no kernel to run it",
            location=(self.renderer.sphinx_env.docname, data.line),
        )
    return []


def setup(app):
    """Replace the rendering."""
    NbElementRenderer.render_widget_view = render_nothing
