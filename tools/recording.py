"""A plugin of pytest: what nbval executes is recorded as nbclient records it, and each report brings it along.

nbval compares what a cell shows and forgets it; here its kernels' messages go through nbclient's own recorder too. So a
page that nbval executed and one that nbclient executed are the same record, and there is one way to read either.
`by_nbval.py` runs pytest with this plugin, and gets each notebook with the report of its last cell.
"""

import json
import math
import time
from collections import deque
from contextlib import suppress
from copy import deepcopy
from queue import Empty

import nbformat
import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbFile
from notebooks import RECORD, meeting_place, show

PATIENCE = 600  # seconds that a kernel which lives may take to start, or to tell what it has done


class DeadWorkerError(RuntimeError):
    """The process that ran a notebook died of it."""


class RecordingKernel(RunningKernel):
    """A kernel that has a cell record what it says of it, and whose death is noticed within a second.

    nbval's own waits for a dead kernel as long as for a slow one, and listens only when a cell has come to its end.
    """

    def __init__(self, *args, **options):
        self.recorder, self.index, self.running, self.said = None, None, None, deque()
        super().__init__(*args, **options)

    def execute_cell_input(self, cell_input, allow_stdin=None):
        """As nbval's, but with history, which numbers the cells."""
        self.running = self.kc.execute(cell_input, allow_stdin=allow_stdin, stop_on_error=False)
        return self.running

    def begin(self, index):
        """Record for another cell from now on."""
        self.index = index
        self.recorder.clear_before_next_output = False

    def record(self, message):
        """Have the cell show what the kernel said."""
        if self.running and message["parent_header"].get("msg_id") == self.running:
            with suppress(CellExecutionComplete):
                self.recorder.process_message(deepcopy(message), self.recorder.nb.cells[self.index], self.index)

    def listen(self, seconds=0):
        """Take what the kernel has said by now, waiting for the first of it."""
        with suppress(Empty):
            while True:
                message = self.kc.get_iopub_msg(timeout=seconds)
                self.record(message)
                self.said.append(message)
                seconds = 0

    def get_message(self, stream, timeout=None):
        """The next message; `queue.Empty` after the timeout, and `DeadKernelError` where none can come."""
        if stream == "shell":  # nbval gives a kernel ten seconds to say that it is there
            timeout = max(timeout or 0, PATIENCE)
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        while True:
            if stream == "iopub" and self.said:
                return self.said.popleft()
            alive = self.is_alive()
            self.listen(1 if stream == "iopub" and alive else 0)
            if stream == "shell":
                with suppress(Empty):
                    return self.kc.get_shell_msg(timeout=1 if alive else 0)
            if stream == "iopub" and self.said:
                continue
            if not alive:
                raise DeadKernelError("Kernel died")
            if time.monotonic() > end:
                raise Empty


class RecordedPage(IPyNbFile):
    """A notebook of which all that it shows is recorded, with the seconds of each cell, up to the first exception."""

    def collect(self):
        """Its cells, and a recorder for what they show."""
        cells = list(super().collect())
        self.places = [place for place, cell in enumerate(self.nb.cells) if cell.cell_type == "code"]
        self.recorder = NotebookClient(deepcopy(self.nb), **RECORD)
        self.cell_seconds, self.failed, self.cut_short, self.begun = {}, False, False, False
        return cells

    def setup(self):
        """Start the kernel, and note down which Python it is."""
        super().setup()
        self.kernel.recorder = self.recorder
        about = self.kernel.kc.kernel_info(reply=True, timeout=PATIENCE)
        self.recorder.nb.metadata["language_info"] = about["content"]["language_info"]

    def begin(self, place):
        """Note down beside its folder that it is begun. If it was, its worker died, and another is not lost to it."""
        sign = self.path.parent.with_name(f"{self.path.stem} begun")
        if sign.exists():
            self.end(place, DeadWorkerError("the process that ran this notebook died"))
        sign.touch()
        self.begun = True

    def end(self, place, error):
        """Run nothing more of it, and have a cell show why, unless its own code raised it."""
        self.failed = True
        cell = self.recorder.nb.cells[place]
        if not any(output.output_type == "error" for output in cell.outputs):
            show(error, cell)
            self.cut_short = True


nbval.plugin.RunningKernel = RecordingKernel
nbval.kernel.KernelManager = lambda **options: KernelManager(**options, **meeting_place())


def pytest_collect_file(file_path, parent):
    """In the place of nbval's own, which is not asked for."""
    return RecordedPage.from_parent(parent, path=file_path) if file_path.suffix == ".ipynb" else None


def pytest_itemcollected(item):
    """Give a busy machine time."""
    item.output_timeout = PATIENCE


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Run no cell behind one that failed, since its page ends there, and none that is not to be run."""
    page, place = item.parent, item.parent.places[item.cell_num]
    if not page.begun:
        page.begin(place)
    if page.failed:
        pytest.skip("an earlier cell failed")
    cell = page.nb.cells[place]
    if not cell.source.strip() or "skip-execution" in cell.metadata.get("tags", []):
        pytest.skip("nothing to run")


def pytest_runtest_call(item):
    """Have the kernel record for this cell."""
    item.parent.kernel.begin(item.parent.places[item.cell_num])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note down how a cell went; the last one's report has the page."""
    report = yield
    page, place = item.parent, item.parent.places[item.cell_num]
    cell = page.recorder.nb.cells[place]
    if report.when == "call":
        page.cell_seconds[str(place + 1)] = call.duration
        cell.outputs = nbval.plugin.coalesce_streams(cell.outputs)
    if report.failed and not page.failed:
        page.end(place, call.excinfo.value)
    if report.when == "teardown" and place == page.places[-1]:
        report.user_properties = [("page", page_as_text(page))]
    return report


def page_as_text(page):
    """What came of a notebook, as the report of its last cell takes it along."""
    parts = {"cell_seconds": page.cell_seconds, "cut_short": page.cut_short}
    return json.dumps(parts | {"notebook": nbformat.writes(page.recorder.nb)})
