"""The renderer of maths: Node, which the build starts once."""

import re
import sys

import pytest
from nbformat.v4 import new_markdown_cell
from small_book import build, make_book, write_cells
from sphinxcontrib.katex import KaTeXError, KaTeXServer
from visits import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.maths import start_renderer  # noqa: E402

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


def test_each_of_many_pages_has_its_own_formulas(tmp_path):
    """Several processes write them at once, and ask one renderer."""
    book = make_book(tmp_path)
    names = [f"page_{number}" for number in range(6)]
    chapters = "\n".join(f"- file: {name}" for name in names)
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: page\nchapters:\n{chapters}\n")
    formulas = {name: [f"{name[-1]}+{term}" for term in range(200)] for name in names}
    for name in names:
        text = "\n\n".join(f"${formula}$" for formula in formulas[name])
        write_cells(book, new_markdown_cell(f"# A page\n\n{text}"), name=name)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    for name in names:
        page = (book / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8")
        assert re.findall(r"<annotation[^>]*>(.*?)</annotation>", page) == formulas[name]
