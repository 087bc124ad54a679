"""Widgets need a kernel and the site has none: a page shows the figure that a widget drew first."""

from dataclasses import replace

from myst_nb.core.render import WIDGET_STATE_MIMETYPE, WIDGET_VIEW_MIMETYPE, NbElementRenderer
from sphinx.util import logging

logger = logging.getLogger(__name__)
STATIC = {"text/html", "image/svg+xml", "image/png"}


def figures(models, model_id):
    """The PNG figures that a widget and the widgets inside it hold, in base64.

    Args:
        models: the widgets' state as a notebook records it: model id to its `state`.
        model_id: the widget to look at.
    """
    state = models.get(model_id, {}).get("state", {})
    own = [output["data"]["image/png"] for output in state.get("outputs", []) if "image/png" in output.get("data", {})]
    inside = [child.removeprefix("IPY_MODEL_") for child in state.get("children", [])]
    return own + [figure for child in inside for figure in figures(models, child)]


def render_figures(self, data):
    """Stand in for MyST-NB's rendering of a widget, which only its own scripts could show."""
    client = self.renderer.nb_client
    models = client.nb_metadata.get("widgets", {}).get(WIDGET_STATE_MIMETYPE, {}).get("state", {})
    drawn = figures(models, data.content["model_id"])
    _, outputs = client.code_cell_outputs(data.cell_index)
    # Not by its index: MyST-NB counts the printed parts between two pictures as one, the notebook each.
    bundles = [output["data"] for output in outputs if WIDGET_VIEW_MIMETYPE in output.get("data", {})]
    (own,) = (bundle for bundle in bundles if bundle[WIDGET_VIEW_MIMETYPE] == data.content)
    if not drawn and not STATIC & set(own):
        logger.warning(
            f"the widget of cell {data.cell_index + 1} draws nothing, and the site has no kernel to run it",
            location=(self.renderer.sphinx_env.docname, data.line),
        )
    return [
        node for figure in drawn for node in self.render_image(replace(data, mime_type="image/png", content=figure))
    ]


def drop_state(app, doctree):
    """Leave out the widgets' state: megabytes that only the widgets' own scripts could read."""
    app.env.nb_metadata.get(app.env.docname, {}).pop("js_files", None)


def setup(app):
    """Replace the rendering, and connect to the reading of pages."""
    NbElementRenderer.render_widget_view = render_figures
    app.connect("doctree-read", drop_state)
