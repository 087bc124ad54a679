"""Run every notebook, or those named (`chapters/flash`), with other seeds, and list the claims that fail."""

import sys
from functools import partial

from notebooks import code_cells, names, path, read, run, run_together

SEEDS = (1, 2)


def seeded(name, seed):
    """A notebook whose setup cell sets another seed."""
    notebook = read(name)
    _, cell = code_cells(notebook)[0]
    assert cell.source.count("setup()") == 1, f"{path(name)}: the first code cell does not call setup()"
    cell.source = cell.source.replace("setup()", f"setup(seed={seed})")
    return notebook


def try_seed(name, seed):
    """The claims of a notebook that fail with a seed; one that fails does not stop the others."""
    return seed, run(name, seeded(name, seed), allow_errors=True)


def main():
    """Try every notebook with every seed, print a table of what failed, and fail where anything did."""
    chosen = sys.argv[1:] or names()
    rows, n_cells = [], 0
    for seed, done in run_together([partial(try_seed, name, seed) for name in chosen for seed in SEEDS]):
        print(f"{done.name}, seed {seed}: {len(done.failures)} failed", flush=True)
        rows += [(done.name, seed, number, error) for number, _, error in done.failures]
        n_cells += len(done.cell_seconds)
    print(f"\n{len(rows)} of {n_cells} cells failed")
    for name, seed, number, error in sorted(rows):
        print(f"{path(name)}  seed {seed}  cell {number}  {error}")
    sys.exit(bool(rows))


if __name__ == "__main__":
    main()
