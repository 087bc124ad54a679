"""A folded cell in a running JupyterLab, of today and of Colab's time: its code is hidden, and what it shows is not.

Colab's own front end runs nowhere else: that its mark is there is for tests/notebooks/test_folds.py.
"""

import lab
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import expect

FOLDED = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}


def shows(text):
    """An output as a notebook stores it, so that nothing has to run."""
    return [new_output("stream", name="stdout", text=text)]


@pytest.fixture(params=lab.HOSTS)
def cells(request, browser, tmp_path):
    """A folded and an open cell, in one host."""
    host = lab.HOSTS[request.param]
    assert host.lab.exists(), f"there is no {host.lab.name}: run `make install` first"
    kernel = {"name": lab.KERNEL, "display_name": lab.KERNEL, "language": "python"}
    folded = new_code_cell("# @title Draw one layer\nfolded", metadata=FOLDED, outputs=shows("drawn"))
    notebook = new_notebook(cells=[folded, new_code_cell("open", outputs=shows("shown"))])
    notebook.metadata["kernelspec"] = kernel
    nbformat.write(notebook, tmp_path / lab.NOTEBOOK)
    with lab.running_lab(tmp_path, host) as address:
        page = browser.new_page()
        lab.go_to(page, address)
        yield page.locator(".jp-Notebook .jp-CodeCell")
        page.close()


def test_a_folded_cell_hides_its_code_and_shows_its_output(cells):
    folded, opened = cells.first, cells.nth(1)
    for cell, output in ((folded, "drawn"), (opened, "shown")):
        expect(cell.locator(".jp-OutputArea-output").get_by_text(output)).to_be_visible(timeout=lab.PATIENCE)
    expect(opened.locator(".jp-InputArea-editor")).to_be_visible()
    expect(folded.locator(".jp-InputArea-editor")).not_to_be_visible()
    folded.locator(".jp-InputPlaceholder, .jp-Placeholder-content").first.click()
    expect(folded.locator(".jp-InputArea-editor")).to_be_visible()
