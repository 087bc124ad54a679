"""Run every notebook as a reader's *Run all* does, with the Python that runs this: alone, one after the other.

Each runs in an empty folder and through its own setup cell, so that the first one installs the package. Nothing is
needed but what any Jupyter brings, as in Colab's container. Exceptions fail; claims are judged where the site is made.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

COURSE = Path(__file__).parents[1]


def run(file):
    """Run a notebook in an empty folder; what went wrong, or an empty text."""
    notebook = nbformat.read(file, as_version=4)
    with TemporaryDirectory() as folder:
        alone = {"metadata": {"path": folder}}
        try:
            NotebookClient(notebook, timeout=600, kernel_name="python3", resources=alone).execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return str(error)
    return ""


def main(course=COURSE):
    """Run all of them, and print what each took and what went wrong; whether anything did."""
    failed = []
    for file in [course / "intro.ipynb", *sorted(course.glob("chapters/*.ipynb"))]:
        start = time.perf_counter()
        error = run(file)
        print(f"{'FAILED' if error else 'passed'}  {file.name}, {time.perf_counter() - start:.0f} s", flush=True)
        if error:
            print(error, flush=True)
            failed.append(file.name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
