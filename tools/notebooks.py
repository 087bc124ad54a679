"""The book's notebooks, and running them: two at a time, each on one thread."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx_external_toc.parsing import parse_toc_yaml

WORKERS = 2
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ARROW = re.compile(r"-+> \d+ \S")


def names():
    """Every notebook of the book, in its order: `chapters/flash`."""
    return [page for page in parse_toc_yaml("_toc.yml") if path(page).exists()]


def path(name):
    """The file of a notebook."""
    return Path(f"{name}.ipynb")


def read(name):
    """A notebook as it stands."""
    return nbformat.read(path(name), as_version=4)


def code_cells(notebook):
    """The code cells with their numbers, which count all cells from 1."""
    return [(number, cell) for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]


@dataclass
class Run:
    """What came of running a notebook.

    Attributes:
        name: Of the notebook.
        notebook: With its outputs, as far as it ran.
        cell_seconds: How long each cell took, by its number.
        failures: For each cell that failed: its number, its source and the error.
    """

    name: str
    notebook: nbformat.NotebookNode
    cell_seconds: dict
    failures: list


def plain(lines):
    """Lines of a terminal without colours."""
    return COLOUR.sub("", "\n".join(lines))


def reason(output):
    """An error in one line; the line of code it came from where it says nothing itself, as `assert` does."""
    arrows = [line.split(maxsplit=2)[2] for line in plain(output.traceback).splitlines() if ARROW.match(line)]
    return f"{output.ename}: {plain([output.evalue]).strip() or ''.join(arrows[-1:])}"


def failures(notebook, error, last):
    """The cells that raised; where a kernel died or the time ran out, the last one that was begun."""
    cells = [pair for pair in code_cells(notebook) if "raises-exception" not in pair[1].metadata.get("tags", [])]
    raised = [(number, cell, out) for number, cell in cells for out in cell.outputs if out.output_type == "error"]
    found = [(number, cell.source, reason(out)) for number, cell, out in raised]
    if error and not found:
        reason_given = str(error).strip().splitlines()[0]
        found = [(last, notebook.cells[last - 1].source, f"{type(error).__name__}: {reason_given}")]
    return found


def run(name, notebook, *, allow_errors=False):
    """Run a notebook in its folder; a claim that does not hold is an error."""
    timeout = yaml.safe_load(Path("_config.yml").read_text())["execute"]["timeout"]
    started, seconds, error = {}, {}, None

    def start(cell, cell_index):
        started[cell_index + 1] = time.perf_counter()

    def finish(cell, cell_index, **reply):
        seconds[str(cell_index + 1)] = time.perf_counter() - started[cell_index + 1]

    client = NotebookClient(
        notebook,
        timeout=timeout,
        allow_errors=allow_errors,
        record_timing=False,
        coalesce_streams=True,  # what a slow cell prints comes in pieces, and MyST-NB ends each with a new line
        resources={"metadata": {"path": str(path(name).parent)}},
        on_cell_execute=start,
        on_cell_executed=finish,
    )
    try:
        client.execute(env=os.environ | {"COURSE_STRICT": "1"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as caught:
        error = caught
    return Run(name, notebook, seconds, failures(notebook, error, max(started, default=0)))


def run_together(jobs):
    """Call functions that each run a notebook, and yield what they return as they end; the longest should be first."""
    os.environ["OMP_NUM_THREADS"] = "1"  # two kernels of one thread each are faster than one after the other on two
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            yield from (ended.result() for ended in as_completed([pool.submit(job) for job in jobs]))
        except KeyboardInterrupt:
            os._exit(130)  # kernels end with the process that started them; waiting for their cells takes minutes
