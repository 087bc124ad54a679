"""Each notebook alone, as in Colab: an empty folder, no attention_course, other people's torch and numpy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

PINS = Path(__file__).with_name("colab-requirements.txt")

CLOCK = "import time; alone_since = time.perf_counter()"
PROBE = """\
import importlib.metadata, json, resource, sys, time

origin = json.loads(importlib.metadata.distribution("attention_course").read_text("direct_url.json"))
print(json.dumps({
    "prefix": sys.prefix,
    "commit": origin["vcs_info"]["commit_id"],
    "seconds": time.perf_counter() - alone_since,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
}))"""


def run(*command, **options):
    """The standard output of a command that must succeed; what it said where it does not."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="session")
def colab(root):
    """The programs of an environment like Colab's, kept between runs."""
    environment = root / ".venv-colab"
    stamp = environment / "complete"
    wanted = f"{sys.version}\n{PINS.read_text()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        run(sys.executable, "-m", "venv", "--clear", environment)
        run(environment / "bin" / "pip", "install", "--quiet", "-r", PINS)
        stamp.write_text(wanted)
    return environment / "bin"


@pytest.fixture(scope="session")
def published(root, tmp_path_factory):
    """A git repository of the files as they stand here, committed or not."""
    folder = tmp_path_factory.mktemp("published")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=root)
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message", "as it stands"]):
        run("git", *command, cwd=folder)
    return folder


@pytest.fixture
def outside(colab, published, repository_url, tmp_path):
    """Where and with which surroundings a reader runs: git finds the repository's address on this machine."""
    subprocess.run([colab / "pip", "uninstall", "--quiet", "--yes", "attention_course"], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{published.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": repository_url,
    }
    return {"cwd": tmp_path, "env": environment}


def versions(colab):
    """What is installed, which no notebook may replace."""
    return set(run(colab / "pip", "list", "--format=freeze").split())


def test_a_notebook_runs_alone(name, root, colab, published, outside, capsys):
    notebook = nbformat.read(root / name, as_version=4)
    setup = next(index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(setup + 1, nbformat.v4.new_code_cell(CLOCK))
    notebook.cells.append(nbformat.v4.new_code_cell(PROBE))
    copy = outside["cwd"] / Path(name).name
    nbformat.write(notebook, copy)
    before = versions(colab)

    run(colab / "jupyter-execute", "--inplace", "--timeout=120", copy, **outside)

    report = json.loads(nbformat.read(copy, as_version=4).cells[-1].outputs[0].text)
    with capsys.disabled():
        print(f"\n{name}: {report['seconds']:.0f} s, {report['peak'] / 2**20:.1f} GB at its peak (Linux)")
    assert report["prefix"] == str(colab.parent)
    assert report["commit"] == run("git", "rev-parse", "HEAD", cwd=published).strip()
    assert before <= versions(colab)


def test_the_package_installs_from_a_folder(colab, published, outside):
    before = versions(colab)
    run(colab / "pip", "install", "--quiet", published, **outside)
    installed = run(colab / "python", "-c", "import attention_course as a; print(a.__file__)", **outside)
    assert Path(installed.strip()).is_relative_to(colab.parent)
    assert before <= versions(colab)
