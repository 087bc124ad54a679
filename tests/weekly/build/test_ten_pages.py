"""Ten pages of the course are the same whether nbval executes them, as for the site, or nbclient, as for the odds.

It takes minutes: ten notebooks run twice, two at a time.
"""

import nbformat
import pytest
from executors import ROOT, executed

# Quick pages that print no time, with progress bars, widgets, drawings, expected exceptions and sums.
NAMES = ["alignment", "masking", "self_attention", "order", "own_model", "diagnose", "primer", "gpt2", "three_matrices"]
PAGES = ["intro", *(f"chapters/{name}" for name in NAMES)]
WIDGET = "application/vnd.jupyter.widget-view+json"  # its id is drawn by lot


@pytest.fixture(scope="module")
def runs():
    """`{executor: {page: run}}`."""
    pages = {page: nbformat.read(ROOT / f"{page}.ipynb", as_version=4) for page in PAGES}
    return [executed(executor, pages) for executor in ("by_nbval", "by_nbclient")]


def shown(run):
    """What each cell shows, without the progress bars, which tell the time; a stream may come before the other."""
    cells = []
    for cell in [cell for cell in run.notebook.cells if cell.cell_type == "code"]:
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET, None)
        cells.append((cell.execution_count, [one for one in cell.outputs if one.get("name") != "stderr"]))
    return cells


@pytest.mark.parametrize("page", PAGES)
def test_both_executors_show_the_same(runs, page):
    by_nbval, by_nbclient = (of[page] for of in runs)
    assert shown(by_nbval) == shown(by_nbclient)
    assert by_nbval.notebook.metadata == by_nbclient.notebook.metadata
    assert any(outputs for _, outputs in shown(by_nbval)[1:])
