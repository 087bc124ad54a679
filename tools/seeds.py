"""Run every notebook, or those named (`chapters/flash`), with other seeds, and list the claims that do not hold."""

import sys
from functools import partial

from notebooks import code_cells, names, path, read, run, run_together
from verdicts import exceptions, false_claims

SEEDS = (1, 2)


def seeded(name, seed):
    """A notebook whose setup cell sets another seed."""
    notebook = read(name)
    _, cell = code_cells(notebook)[0]
    assert cell.source.count("setup()") == 1, f"{path(name)}: the first code cell does not call setup()"
    cell.source = cell.source.replace("setup()", f"setup(seed={seed})")
    return notebook


def try_seed(name, seed):
    """A notebook run with a seed."""
    return seed, run(name, seeded(name, seed))


def tried(chosen, seeds):
    """Run notebooks with seeds, two at a time; yields each seed and what came of it."""
    for seed, done in run_together([partial(try_seed, name, seed) for name in chosen for seed in seeds]):
        n_false, n_raised = len(false_claims(done.notebook)), len(exceptions(done.notebook))
        print(f"{done.name}, seed {seed}: {n_false} claims not so, {n_raised} exceptions", flush=True)
        yield seed, done


def main():
    """Try every notebook with every seed, print a table of what is wrong, and fail where anything is."""
    rows = []
    for seed, done in tried(sys.argv[1:] or names(), SEEDS):
        rows += [(done.name, seed, number, sentence) for number, sentence in false_claims(done.notebook)]
        rows += [(done.name, seed, number, error) for number, _, error in exceptions(done.notebook)]
    print(f"\n{len(rows)} are wrong")
    for name, seed, number, what in sorted(rows):
        print(f"{path(name)}  seed {seed}  cell {number}  {what}")
    sys.exit(bool(rows))


if __name__ == "__main__":
    main()
