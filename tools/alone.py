"""Run every notebook by nbval as a reader in Colab does: alone in an empty folder, with other people's torch and numpy.

alone.py <environment>               all of them, in that environment
alone.py <environment> masking ...   these

Exceptions fail; claims are judged where the site is made. The package comes from a git repository of the files as they
stand here: to the first notebook through its own setup cell. The others have the same cell, and find there what one
installation by pip, as that cell's, has installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from environments import overlay, run, site_packages
from execute import CACHE, expected
from jupyter_cache import get_cache
from notebooks import WORKERS, code_cells, names, path, timeout
from published import published

ADDRESS = "https://example.org/group/course"  # where the course is published, for these readers
INSTALLED = """\
import importlib.metadata, json
print(json.dumps({one.name: one.version for one in importlib.metadata.distributions()}))"""

CLOCK = "import time; alone_since = time.perf_counter()"
PROBE = """\
import importlib.metadata, json, resource, sys, time

alone_took = time.perf_counter() - alone_since
origin = json.loads(importlib.metadata.distribution("attention_course").read_text("direct_url.json"))
assert origin["vcs_info"]["commit_id"] == {commit!r}, origin
assert sys.prefix == {prefix!r}, sys.prefix
before = json.loads({installed!r})
after = {{name: importlib.metadata.version(name) for name in before}}
assert after == before, "the notebook replaced what was installed"
added = {{one.name for one in importlib.metadata.distributions(path=[{site_packages!r}])}}
assert added == {{"attention_course"}}, added
with open("report.json", "w") as report:
    json.dump([alone_took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20], report)"""


def publish(folder):
    """Make a git repository of the files as they stand, committed or not, at an address; return its commit.

    The repository is one of its own, so that a folder that is none, as from a ZIP, will do.
    """
    git = ["git", f"--git-dir={folder / '.git'}"]
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    branch = published()["branch"]  # of which the setup cell asks for the package
    run("git", "init", "--quiet", f"--initial-branch={branch}", folder)
    run(*git, "--work-tree=.", "add", "--all")
    run(*git, f"--work-tree={folder}", "checkout-index", "--all")
    run("make", "url", f"URL={ADDRESS}", f"SITE={ADDRESS}/site", cwd=folder)
    run(*git, f"--work-tree={folder}", *author, "commit", "--quiet", "--all", "--message", "as it stands")
    return run(*git, "rev-parse", "HEAD").strip()


def surroundings(published, jupyter):
    """A reader's environment variables: git finds the course's address on this machine, and no package is at hand."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {
        "OMP_NUM_THREADS": "1",
        "JUPYTER_PATH": str(jupyter),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{published.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
    }


def lay_out(name, folder, python, commit, installed):
    """Give a notebook a folder, a kernel in an environment, a clock and a probe, and return its copy."""
    kernel = name.replace("/", "-")
    spec = folder / "jupyter" / "kernels" / kernel / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": kernel, "language": "python"}))

    notebook = nbformat.read(folder / "published" / path(name), as_version=4)
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    setup, _ = code_cells(notebook)[0]
    notebook.cells.insert(setup, nbformat.v4.new_code_cell(CLOCK))
    prefix = python.parents[1]
    its_own = str(site_packages(prefix))
    probe = PROBE.format(commit=commit, prefix=str(prefix), installed=installed, site_packages=its_own)
    notebook.cells.append(nbformat.v4.new_code_cell(probe))
    copy = folder / kernel / path(name).name
    copy.parent.mkdir()
    nbformat.write(notebook, copy)
    return copy


def main(environment, *pages):
    """Run them, the longest first, then print how long each took and how much memory."""
    with TemporaryDirectory(prefix="readers-") as temporary:
        folder = Path(temporary)
        commit = publish(folder / "published")
        chosen = [name for name in names() if not pages or Path(name).name in pages]
        installed = run(Path(environment) / "bin" / "python", "-I", "-c", INSTALLED).strip()
        variables = surroundings(folder / "published", folder / "jupyter")
        without, with_it = (overlay(folder / name, environment) for name in ("without", "with it"))
        run(with_it, "-m", "pip", "install", "--quiet", f"git+{ADDRESS}", cwd=folder, env=variables)
        cache = get_cache(str(CACHE))
        order = sorted(chosen, key=lambda name: expected(name, cache), reverse=True)
        pythons = dict.fromkeys(order, with_it) | {chosen[0]: without}
        copies = {name: lay_out(name, folder, pythons[name], commit, installed) for name in order}
        pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--numprocesses={WORKERS}"]
        options = ["--dist=loadscope", "--no-loadscope-reorder", "--nbval-lax", f"--nbval-cell-timeout={timeout()}"]
        ran = subprocess.run([*pytest, *options, *copies.values()], cwd=folder, env=variables)
        for name, copy in copies.items():
            report = copy.with_name("report.json")
            if report.exists():
                seconds, gigabytes = json.loads(report.read_text())
                print(f"{name}: {seconds:.0f} s, {gigabytes:.1f} GB at its peak (on Linux)")
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
