"""What `make site` does: run the notebooks that changed, build the book of what they showed, say what is wrong.

The package lies beside the pages as a wheel, so that a copy of the site is enough to run the notebooks.
"""

import errno
import shutil
import subprocess
import sys
from pathlib import Path

from execute import CACHE, last_records, run_stale
from filelock import FileLock, Timeout
from jupyter_cache import get_cache
from notebooks import path, read
from odds import write_for_the_site
from offline import pack
from verdicts import exceptions, false_claims
from wheel import build_wheel

BUILD = Path("_build")
COMPLETE = BUILD / ".complete"
ROOM = 500 * 2**20  # bytes: what a first build writes, and as much again
NO_ROOM = "There is no room left on the disk of this folder: make room, and `make site` goes on from here."
BUSY = "Another `make site` is at work in this folder: wait for its end, or end it."


def build_book():
    """Build the book; the exit status of Jupyter Book."""
    # Sphinx counts a page that it warned of as done: unless the last build came to its end, all are read again.
    if not COMPLETE.exists():
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
    COMPLETE.unlink(missing_ok=True)
    program = Path(sys.executable).with_name("jupyter-book")
    status = subprocess.run([program, "build", ".", "-n", "-W", "--keep-going"]).returncode
    if status == 0:
        COMPLETE.touch()
    return status


def serve_wheel():
    """Put the package beside the pages, for notebooks whose first cell cannot reach the repository."""
    html = BUILD / "html"
    html.mkdir(parents=True, exist_ok=True)  # a build that failed at once has made none
    for old in html.glob("*.whl"):
        old.unlink()
    shutil.copy(build_wheel(), html)


def last_runs(chosen=None):
    """Every notebook as it ran last, or some of them: `{name: notebook}`."""
    cache = get_cache(str(CACHE))
    return {name: cache.merge_match_into_notebook(read(name))[1] for name in last_records(cache, chosen)}


def report(runs):
    """Name every claim that did not hold, and every exception; whether there was one."""
    false = [(name, number, sentence) for name, notebook in runs.items() for number, sentence in false_claims(notebook)]
    raised = [(name, *found) for name, notebook in runs.items() for found in exceptions(notebook)]
    if false:
        print(f"Not so in this run, and marked with a cross where it stands ({len(false)} in all):")
    for name, number, sentence in false:
        print(f"  {path(name)}, cell {number}: {sentence}")
    if raised:
        print(f"Stopped by an exception, which the page shows ({len(raised)} in all):")
    for name, number, source, error in raised:
        code = "\n".join(f"    {line}" for line in source.splitlines())
        print(f"  {path(name)}, cell {number}: {error}\n{code}")
    return bool(raised)


def make_site():
    """Run, build and report; the exit status."""
    took = run_stale()
    write_for_the_site(BUILD)
    status = build_book()
    serve_wheel()
    print(took, flush=True)
    status = report(last_runs()) or status
    if (BUILD / "html" / "sitemap.xml").exists():  # only a published site has one, and its front page links to the file
        pack()
    index = (BUILD / "html" / "index.html").absolute()
    if index.exists():
        print(f"The site is in _build/html: open {index.as_uri()}, or make serve")
    return status


def is_full(error):
    """Whether an error says that the disk is full: the system's, or SQLite's."""
    return getattr(error, "errno", None) == errno.ENOSPC or "disk is full" in str(error)


def main():
    """Make the site, unless another `make site` does or there is no room for it."""
    BUILD.mkdir(exist_ok=True)
    if shutil.disk_usage(BUILD).free < ROOM:
        sys.exit(NO_ROOM)
    try:
        with FileLock(BUILD / ".lock", timeout=0):
            sys.exit(make_site())
    except Timeout:
        sys.exit(BUSY)
    except Exception as error:
        if not is_full(error):
            raise
        sys.exit(NO_ROOM)


if __name__ == "__main__":
    main()
