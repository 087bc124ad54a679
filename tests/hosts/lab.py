"""A real JupyterLab whose kernel is another environment's, and explorers in it as a reader moves them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from choosing import weekly
from environments import overlay, run
from nbformat import NotebookNode
from playwright.sync_api import Dialog, Error, Locator, Page, TimeoutError, expect

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds; a cold kernel imports torch from a cold disk
KERNEL = "course"
NOTEBOOK = "explorers.ipynb"


@dataclass(frozen=True)
class Host:
    """One front end and one kernel, in environments that `make install` makes.

    Attributes:
        lab: Folder of the environment that JupyterLab runs in.
        kernel: Folder of the environment that the kernel runs in; the package is there or comes on top.
        has_package: Whether it is there.
        extensions: Front ends taken from the kernel's environment, so that both sides are of one version.
    """

    lab: Path
    kernel: Path
    has_package: bool
    extensions: tuple[str, ...]


# Colab has a front end of its own that nobody else can run. What can be had is its kernel's side,
# ipywidgets 7.7.1, under a JupyterLab with the widgets of that time: ipywidgets 7 speaks version 1.5
# of the controls, which jupyterlab_widgets from 3.0 on (all that JupyterLab 4 takes) does not know.
HOSTS = {
    "JupyterLab 4 with ipywidgets 8": Host(
        lab=ROOT / ".venv-lab",
        kernel=Path(sys.prefix),
        has_package=True,
        extensions=("anywidget", "@jupyter-widgets"),
    ),
    "JupyterLab 3 with ipywidgets 7": Host(
        lab=ROOT / ".venv-lab3",
        kernel=ROOT / ".venv-colab",
        has_package=False,
        extensions=("anywidget",),
    ),
}

# As parameters: on each change the first.
FRONT_ENDS = [name if place == 0 else weekly(name) for place, name in enumerate(HOSTS)]


def kernel_python(folder: Path, host: Host) -> Path:
    """The Python of the kernel; with the package from a copy of this folder, as a notebook's first cell installs it."""
    if host.has_package:
        return host.kernel / "bin" / "python"
    python = overlay(folder / "environment", host.kernel)
    source = folder / "source"
    shutil.copytree(ROOT / "attention_course", source / "attention_course")
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(python, "-m", "pip", "install", "--quiet", source)
    return python


def write_jupyter_folder(folder: Path, host: Host) -> None:
    """Jupyter's own folders: the one kernel, its front ends, and no news from the network."""
    kernel = folder / "data" / "kernels" / KERNEL / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [str(kernel_python(folder, host)), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": KERNEL, "language": "python"}))

    extensions = folder / "data" / "labextensions"
    extensions.mkdir()
    for name in host.extensions:
        source = host.kernel / "share" / "jupyter" / "labextensions" / name
        assert source.exists(), f"{name} is not installed in {host.kernel}"
        (extensions / name).symlink_to(source)

    page_config = folder / "config" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))


def surroundings(folder: Path, host: Host) -> dict[str, str]:
    """The environment variables: nobody's settings but the folder's, and no package but the installed one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    if not host.has_package:
        kept.pop("PYTHONPATH", None)
    folders = {f"JUPYTER_{name.upper()}_DIR": str(folder / name) for name in ("config", "data", "runtime")}
    own = ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    return kept | folders | {name: str(folder / "config") for name in own}


@contextmanager
def running_lab(folder: Path, host: Host) -> Iterator[str]:
    """The address of a folder's notebook in a JupyterLab that runs as long as the context lasts."""
    write_jupyter_folder(folder, host)
    log = folder / "lab.log"
    command = [host.lab / "bin" / "jupyter", "lab", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=surroundings(folder, host),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield address(server, folder, log)
    finally:
        end(server)


def end(server: subprocess.Popen, patience: float = 30) -> None:
    """Ask a server to end, and end it where it does not within some seconds, with all processes that it started."""
    server.terminate()
    with suppress(subprocess.TimeoutExpired):
        server.wait(patience)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def address(server: subprocess.Popen, folder: Path, log: Path) -> str:
    """Where the notebook opens, token included, once the server answers."""
    for _ in range(PATIENCE // 100):
        for path in (folder / "runtime").glob("jpserver-*.json"):
            about = json.loads(path.read_text())
            return f"{about['url']}lab/tree/{NOTEBOOK}?token={about['token']}"
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")


def write_notebook(folder: Path, cells: list[NotebookNode]) -> None:
    """A notebook of cells for the one kernel there is."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": KERNEL, "display_name": KERNEL, "language": "python"}
    nbformat.write(notebook, folder / NOTEBOOK)


def wake_kernel(page: Page) -> None:
    """Run the first cell until it answers: what is sent to a kernel in its first second may get lost."""
    expect(page.get_by_text(f"{KERNEL} | Idle")).to_be_visible(timeout=PATIENCE)
    cell = page.locator(".jp-Notebook .jp-Cell").first
    answered = cell.locator(".jp-InputPrompt").filter(has_text=re.compile(r"\[\d+\]"))
    for _ in range(3):
        cell.locator(".jp-InputArea-editor").click()
        page.keyboard.press("Control+Enter")
        with suppress(TimeoutError):
            answered.wait_for(timeout=PATIENCE / 3)
            return
    raise AssertionError("the kernel does not run the notebook's first cell")


def watch(page: Page) -> None:
    """Note in `page.alarms` what goes wrong unseen; a notebook with unsaved changes may be left."""
    page.alarms = []

    def answer(dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()
            return
        page.alarms.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", answer)
    page.on("pageerror", lambda error: page.alarms.append(f"uncaught: {error}"))


def go_to(page: Page, address: str) -> None:
    """Open an address; again where a JupyterLab that was still loading went elsewhere meanwhile, as it may twice."""
    for _ in range(2):
        with suppress(Error):
            page.goto(address)
            return
        page.wait_for_load_state()
    page.goto(address)


def open_and_run(page: Page, address: str, n_explorers: int) -> None:
    """Open the notebook and run all of it; once more where JupyterLab came up without answering, as it may."""
    go_to(page, address)
    try:
        run_all_cells(page, n_explorers)
    except (AssertionError, TimeoutError):
        go_to(page, address)
        run_all_cells(page, n_explorers)


def run_all_cells(page: Page, n_explorers: int) -> None:
    """Run the open notebook from the menu, and wait until all its explorers are there."""
    wake_kernel(page)
    page.locator(".lm-MenuBar-item, .p-MenuBar-item").get_by_text("Run", exact=True).click()
    page.locator(".lm-Menu-itemLabel, .p-Menu-itemLabel").get_by_text("Run All Cells", exact=True).click()
    views = page.locator(".course-explorer-view")
    failed = page.locator('.jp-OutputArea-output:is([data-mime-type$="stderr"], [data-mime-type$="error"])')
    expect(views.nth(n_explorers - 1).or_(failed).first).to_be_attached(timeout=PATIENCE)
    if failed.count():
        pytest.fail(f"a cell of the notebook failed:\n{failed.first.inner_text()}")


class LiveExplorer:
    """One explorer of the notebook: its controls moved as a reader does, its numbers as the browser has them."""

    def __init__(self, page: Page, alt: str):
        self.page = page
        self.view = page.locator(".course-explorer-view").and_(page.get_by_label(alt, exact=True))
        self.output = page.locator(".jp-OutputArea-output").filter(has=self.view)

    def control(self, kind: str, label: str) -> Locator:
        """The ipywidget of a kind with a label."""
        named = self.page.locator(".widget-label").get_by_text(label, exact=True)
        return self.output.locator(f".widget-{kind}").filter(has=named)

    def slide(self, label: str, key: str) -> None:
        """Press a key on a slider's handle: ipywidgets 7 draws it with jQuery UI, 8 with noUiSlider."""
        handle = self.control("hslider", label).locator(".ui-slider-handle, .noUi-handle")
        handle.focus()
        handle.press(key)

    def choose(self, label: str, option: str) -> None:
        self.control("dropdown", label).locator("select").select_option(label=option)

    def tick(self, label: str) -> None:
        self.output.locator(".widget-checkbox").filter(has_text=label).locator("input").click()

    def wait_for(self, **wanted) -> dict:
        """The view's state as soon as it is what is wanted; `wanted` may hold any of its parts."""
        deadline = time.monotonic() + 10
        while (state := self.view.evaluate("view => view.explorer.state")) | wanted != state:
            assert time.monotonic() < deadline, f"wanted {wanted}, but the explorer stands at {state}"
            self.page.wait_for_timeout(20)
        return state

    def weights(self) -> list:
        """What the view shows now: (heads, queries, keys)."""
        return self.view.evaluate("view => view.explorer.weights")
