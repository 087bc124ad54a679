"""The renderer of maths: Node, which the build starts once."""

import logging
import subprocess
import sys

import pytest
from built_site import ROOT
from course_site.maths import report_bad_maths, start_renderer
from sphinxcontrib.katex import KaTeXError, KaTeXServer

SLOW_TO_LISTEN = """
import socket, sys, time
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind(sys.argv[1])
time.sleep(0.3)
server.listen()
server.accept()[0].sendall(b"here")
"""


@pytest.fixture
def start(monkeypatch, tmp_path):
    """A function that starts a Python program as if it were the renderer."""

    def start(program, timeout):
        command = classmethod(lambda cls, socket: [sys.executable, "-c", program, socket])
        monkeypatch.setattr(KaTeXServer, "build_command", command)
        return start_renderer(tmp_path, timeout)

    return start


def test_a_renderer_that_has_its_socket_but_does_not_listen_yet_is_waited_for(start):
    process, connection = start(SLOW_TO_LISTEN, timeout=60)
    assert connection.recv(4) == b"here"
    connection.close()
    process.communicate()


def test_a_renderer_that_does_not_start_is_an_error(start):
    with pytest.raises(KaTeXError, match="did not came up"):
        start("raise SystemExit", timeout=0.2)


WRITERS = """
from multiprocessing import get_context
from unittest.mock import Mock

from course_site import maths
from sphinxcontrib.katex import KaTeXServer, render_latex


def write(page):
    formulas = [f"{page}+{term}" for term in range(200)]
    return str(KaTeXServer.get().rundir), all(f">{tex}</annotation>" in render_latex(tex) for tex in formulas)


maths.setup(Mock())
maths.start_for_all(None, Mock(parallel_ok=True))
here = str(KaTeXServer.get().rundir)
with get_context("fork").Pool(3) as pool:
    assert pool.map(write, range(6), chunksize=1) == [(here, True)] * 6
"""


def test_each_of_many_pages_has_its_own_formulas():
    """Several processes write them at once, and ask one renderer."""
    subprocess.run([sys.executable, "-c", WRITERS], cwd=ROOT / "_ext", check=True, timeout=60)


def mathml(tex, numerator):
    """What KaTeX writes of a fraction."""
    return (
        f"<math><semantics><mrow><mfrac>{numerator}<mi>x</mi></mfrac></mrow>"
        f'<annotation encoding="application/x-tex">{tex}</annotation></semantics></math>'
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (mathml("ok", "<mi>a</mi>"), []),
        # Of an operator alone KaTeX makes two children, which Firefox logs as an error.
        (
            mathml("bad", "<mi>Var</mi><mo>\u2061</mo>") + mathml("ok", "<mi>a</mi>"),
            ["KaTeX makes invalid MathML of bad"],
        ),
        ('<span class="katex-error">', ["a formula on this page is not valid KaTeX"]),
    ],
)
def test_a_formula_that_a_reader_could_not_read_is_reported(caplog, monkeypatch, body, said):
    """A warning stops the build."""
    monkeypatch.setattr(logging.getLogger("sphinx"), "propagate", True)
    report_bad_maths(None, "page", "page.html", {"body": body}, None)
    assert caplog.messages == said
