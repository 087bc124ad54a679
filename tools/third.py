"""Of things that are alike `make test` tries a third: which one follows from the checksum of all files.

third.py    print its number, 0, 1 or 2, which THIRD has in the environment of the tests

So the same files have the same tests, and other files may have others. `make test ALL=1` has no THIRD and tries all,
as does whatever `make test` did not start.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from environments import run


def third_of(things):
    """Every third of a list, from the one on that THIRD names; the whole list where there is no THIRD."""
    return things[int(os.environ["THIRD"]) :: 3] if os.environ.get("THIRD") else things


def checksum():
    """Git's of the files of this folder as they stand, committed or not; the folder need be no repository."""
    with TemporaryDirectory() as folder:
        git = ["git", f"--git-dir={Path(folder) / '.git'}", "--work-tree=."]
        run("git", "init", "--quiet", folder)
        run(*git, "add", "--all")
        return run(*git, "write-tree").strip()


if __name__ == "__main__":
    print(int(checksum(), 16) % 3)
