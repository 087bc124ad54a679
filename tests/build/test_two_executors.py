"""The site's executor and that of the odds make the same record of a notebook, whatever happens in it."""

import re

import nbformat
import pytest
from executors import executed
from verdicts import exceptions

# Cells that show what a cell can show, and with which tag.
EVERYTHING = {
    "import sys, time": [],
    "for piece in ('  1', '\\n', '  2\\n'):\n    print(piece, end='', flush=True)\n    time.sleep(0.1)": [],
    "print('to out')\nprint('to err', file=sys.stderr)\nprint('to out again', end='')": [],
    "6 * 7": [],
    "from IPython.display import HTML, clear_output, display": [],
    "handle = display('first', display_id='shown')\nhandle.update('second')\ndisplay(HTML('<b>bold</b>'))": [],
    "handle.update('third, from another cell')": [],
    "print('gone')\nclear_output()\nprint('stays')": [],
    "print('gone')\nclear_output(wait=True)\nprint('stays in its place')": [],
    "print('stays, as nothing comes after it')\nclear_output(wait=True)": [],
    "print('of this cell alone')": [],
    "for percent in (0, 50, 100):\n    print(f'\\r{percent} %', end='', flush=True)": [],
    "import ipywidgets\nslider = ipywidgets.IntSlider(3)\nslider": [],
    "print('before')\nraise ValueError('as expected')": ["raises-exception"],
    "": [],
    "print('left out')": ["skip-execution"],
    "from matplotlib import pyplot as plt\nplt.plot([1, 2])\nplt.show()": ["hide-input"],
}
RAISES = ["1", "print('before')\n1 / 0", "print('never')"]
DIES = ["1", "print('so far', flush=True)\ntime = __import__('time').sleep(0.5)\nos = __import__('os')._exit(1)", "2"]
MEETS = "from ipykernel.connect import get_connection_info\nprint(get_connection_info(unpack=True)['transport'])"
KILLS_ITS_WORKER = ["print('before')", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "2"]


def notebook(*sources, tags=(), kernel="python3"):
    cells = [nbformat.v4.new_markdown_cell("# A page"), *map(nbformat.v4.new_code_cell, sources)]
    for cell, its_tags in zip(cells[1:], tags, strict=False):
        cell.metadata["tags"] = its_tags
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


PAGES = {
    "everything": notebook(*EVERYTHING, tags=EVERYTHING.values()),
    "raises": notebook(*RAISES),
    "dies": notebook(*DIES),
    "no_kernel": notebook("1", kernel="no-such-kernel"),
    "meets": notebook(MEETS),
}


@pytest.fixture(scope="module")
def runs():
    """`{executor: {name: run}}`; the site's runs a page, too, that takes its worker with it, and one without code."""
    more = PAGES | {"kills": notebook(*KILLS_ITS_WORKER), "words": notebook()}
    return {"by_nbval": executed("by_nbval", more), "by_nbclient": executed("by_nbclient", PAGES)}


def record(run):
    """A notebook that ran as text, without what is drawn by lot."""
    text = re.sub(r'"model_id": "\w+"', '"model_id": ""', nbformat.writes(run.notebook))
    return text, run.cut_short, exceptions(run.notebook)


@pytest.mark.parametrize("name", PAGES)
def test_both_make_the_same_record(runs, name):
    assert record(runs["by_nbval"][name]) == record(runs["by_nbclient"][name])


def shown(run):
    """The texts that each cell shows."""
    cells = [cell.outputs for cell in run.notebook.cells if cell.cell_type == "code"]
    return [[one.get("text") or one.get("evalue") or one.data["text/plain"] for one in outputs] for outputs in cells]


def test_what_a_cell_shows_is_kept_as_a_reader_sees_it(runs):
    run = runs["by_nbval"]["everything"]
    page, numbers = shown(run), [cell.execution_count for cell in run.notebook.cells[1:]]
    assert page[:5] == [[], ["  1\n  2\n"], ["to out\nto out again", "to err\n"], ["42"], []]
    assert page[5:7] == [["'third, from another cell'", "<IPython.core.display.HTML object>"], []]
    assert page[7:11] == [
        ["stays\n"],
        ["stays in its place\n"],
        ["stays, as nothing comes after it\n"],
        ["of this cell alone\n"],
    ]
    assert page[11:] == [
        ["100 %"],
        ["IntSlider(value=3)"],
        ["before\n", "as expected"],
        [],
        [],
        ["<Figure size 640x480 with 1 Axes>"],
    ]
    assert numbers == [*range(1, 15), None, None, 15]
    assert run.notebook.metadata["language_info"]["name"] == "python" and not run.cut_short


def test_a_page_ends_where_it_fails(runs):
    raised, died = runs["by_nbval"]["raises"], runs["by_nbval"]["dies"]
    assert shown(raised) == [["1"], ["before\n", "division by zero"], []]
    assert shown(died) == [["1"], ["so far\n", "Kernel died"], []]
    assert (raised.cut_short, died.cut_short) == (False, True)
    assert [number for number, *_ in exceptions(died.notebook)] == [3]


def test_no_kernel_needs_a_port_that_another_program_may_take(runs):
    assert shown(runs["by_nbval"]["meets"]) == [["ipc\n"]]


def test_a_page_that_takes_its_worker_with_it_costs_no_other(runs):
    run = runs["by_nbval"]["kills"]
    assert shown(run) == [[], ["the process that ran this notebook died"], []]
    assert run.cut_short and set(runs["by_nbval"]) == {*PAGES, "kills", "words"}
