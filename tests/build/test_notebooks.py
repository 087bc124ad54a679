"""How the book's notebooks are run."""

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from notebooks import run  # noqa: E402
from verdicts import exceptions  # noqa: E402

PIECES = """\
for piece in ("  1", "\\n", "  2\\n"):
    print(piece, end="", flush=True)
    time.sleep(0.1)"""


def test_what_a_cell_prints_piece_by_piece_is_one_text(monkeypatch):
    monkeypatch.chdir(ROOT)
    cells = [nbformat.v4.new_code_cell(source) for source in ("import time", PIECES)]
    done = run("chapters/none", nbformat.v4.new_notebook(cells=cells))
    assert not exceptions(done.notebook)
    assert [output.text for output in done.notebook.cells[1].outputs] == ["  1\n  2\n"]
