"""The book's notebooks, and running them by nbclient with other seeds or settings: two at a time, each on one thread.

What the site shows is run by nbval: see by_nbval.py.
"""

import os
import signal
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient
from sphinx_external_toc.parsing import parse_toc_yaml
from traitlets.config import Config
from verdicts import code_cells, exceptions

WORKERS = 2
# What nbclient records of a page besides its outputs: no time of day, and no widget's state, which no page shows.
RECORD = {"record_timing": False, "store_widget_state": False}


def names():
    """Every notebook of the book, in its order: `chapters/flash`."""
    return [page for page in parse_toc_yaml("_toc.yml") if path(page).exists()]


def path(name):
    """The file of a notebook."""
    return Path(f"{name}.ipynb")


def read(name):
    """A notebook as it stands."""
    return nbformat.read(path(name), as_version=4)


@dataclass
class Run:
    """What came of running a notebook.

    Attributes:
        name: Of the notebook.
        notebook: With its outputs, as far as it ran.
        cell_seconds: How long each cell took, by its number.
        cut_short: Whether something else than its own code ended it: a kernel that died, or the time allowed.
    """

    name: str
    notebook: nbformat.NotebookNode
    cell_seconds: dict
    cut_short: bool


def timeout():
    """How many seconds a cell may take: many, as a slow machine is no failure."""
    return yaml.safe_load(Path("_config.yml").read_text())["execute"]["timeout"]


def meeting_place():
    """Where a new kernel is met: at files, since a port may be taken before the kernel takes it, which then dies."""
    return {"transport": "ipc", "ip": str(Path(tempfile.gettempdir(), f"kernel-{uuid.uuid4().hex}"))}


def show(error, cell):
    """Have a cell show an error that its own code did not raise: a kernel that died, or never started."""
    name, text = type(error).__name__, str(error).strip()
    cell.outputs.append(nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))


def run(name, notebook, *, environment=None):
    """Run a notebook in its folder, up to the first exception. Whatever goes wrong stays in the notebook."""
    started, seconds, cut_short = {}, {}, False

    def start(cell, cell_index):
        started[cell_index + 1] = time.perf_counter()

    def finish(cell, cell_index, **reply):
        seconds[str(cell_index + 1)] = time.perf_counter() - started[cell_index + 1]

    client = NotebookClient(
        notebook,
        timeout=timeout(),
        **RECORD,
        config=Config(KernelManager=meeting_place()),
        coalesce_streams=True,  # what a slow cell prints comes in pieces, and MyST-NB ends each with a new line
        resources={"metadata": {"path": str(path(name).parent)}},
        on_cell_execute=start,
        on_cell_executed=finish,
    )
    try:
        client.execute(env=os.environ | (environment or {}))
    except Exception as error:  # of whatever kind, it costs this notebook only
        if not exceptions(notebook):
            last = max(started, default=code_cells(notebook)[0][0])
            show(error, notebook.cells[last - 1])
            cut_short = True
    return Run(name, notebook, seconds, cut_short)


def run_together(jobs):
    """Call functions that each run a notebook, and yield what they return as they end; the longest should be first."""
    os.environ["OMP_NUM_THREADS"] = "1"  # two kernels of one thread each are faster than one after the other on two
    # Ctrl-C ends it at once, wherever it is: kernels end with the process that started them, and waiting for their
    # cells would take minutes.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            yield from (ended.result() for ended in as_completed([pool.submit(job) for job in jobs]))
        finally:  # after an error in one of them, not all that wait
            pool.shutdown(cancel_futures=True)
