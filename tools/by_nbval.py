"""Run notebooks by nbval, two at a time, each alone in an empty folder, as a reader runs one that was downloaded."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from notebooks import WORKERS, Run, code_cells, timeout

PLUGINS = ["nbval.plugin", "xdist.plugin", "xdist.looponfail", "recording"]


class Keeper:
    """A plugin of the pytest that starts the workers: it hands on each page as its last cell is done."""

    def __init__(self, keep, names):
        self.keep, self.names = keep, names

    def pytest_runtest_logreport(self, report):
        """Hand on what the last report of a page brings."""
        for kind, text in report.user_properties:
            if kind == "page":
                parts = json.loads(text)
                notebook = nbformat.reads(parts.pop("notebook"), as_version=4)
                self.keep(Run(self.names[report.nodeid.partition("::")[0]], notebook, **parts))

    def pytest_report_teststatus(self, report):
        """Print nothing for a cell: pytest counts them, and what is wrong is told at the end of `make site`."""
        if report.when == "call" or not report.passed:
            return report.outcome, "", ""
        return None

    def pytest_handlecrashitem(self, sched):
        """Where a worker died, leave out the pages that it had done: pytest-xdist 3.8 waits for them for ever."""
        for page in [page for page, cells in sched.workqueue.items() if all(cells.values())]:
            del sched.workqueue[page]

    def pytest_keyboard_interrupt(self):
        """End at once, wherever it is: kernels end with the process that started them."""
        os._exit(130)


def run_by_nbval(notebooks, keep):
    """Run `{name: notebook}`, the longest first, and call `keep` with each as it ends; the exit status of pytest."""
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with TemporaryDirectory(prefix="notebooks-") as folder:
        files = {}
        for name, notebook in notebooks.items():
            if not code_cells(notebook):  # pytest has nothing to report of it
                keep(Run(name, notebook, {}, False))
                continue
            file = Path(folder, name, f"{Path(name).name}.ipynb")
            file.parent.mkdir(parents=True)
            nbformat.write(notebook, file)
            files[str(file.relative_to(folder))] = name
        options = [f"--nbval-cell-timeout={timeout()}", "--nbval-kernel-startup-timeout=600"]
        order = [f"--numprocesses={WORKERS}", "--dist=loadfile", "--no-loadscope-reorder"]
        plain = ["--capture=no", "--quiet", "--tb=no", "-rN", "--disable-warnings"]
        nobodys = [f"--rootdir={folder}", "-c", os.devnull]  # the settings of no project
        plugins = [part for plugin in PLUGINS for part in ("-p", plugin)]
        paths = [str(Path(folder, file)) for file in files]
        command = [*plugins, *options, *order, *plain, *nobodys, *paths]
        return pytest.main(command, plugins=[Keeper(keep, files)]) if files else 0
