"""Notebooks executed by one of the two executors, in a process of its own: one of them starts pytest."""

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]


def executed(executor, notebooks):
    """What `by_nbval` or `by_nbclient` made of `{name: notebook}`: `{name: run}`."""
    with TemporaryDirectory() as folder:
        asked, done = Path(folder, "asked"), Path(folder, "done")
        asked.write_bytes(pickle.dumps(notebooks))
        subprocess.run([sys.executable, __file__, executor, asked, done], cwd=ROOT, check=False)
        return pickle.loads(done.read_bytes())


def main(executor, asked, done):
    """Execute notebooks from one file into another."""
    sys.path.insert(0, str(ROOT / "tools"))
    from by_nbval import run_by_nbval
    from notebooks import run, run_together

    notebooks, runs = pickle.loads(Path(asked).read_bytes()), []
    if executor == "by_nbval":
        run_by_nbval(notebooks, runs.append)
    else:
        runs += run_together([partial(run, *page) for page in notebooks.items()])
    Path(done).write_bytes(pickle.dumps({one.name: one for one in runs}))


if __name__ == "__main__":
    main(*sys.argv[1:])
