"""Run notebooks with other seeds."""

from functools import partial

from notebooks import code_cells, path, read, run, run_together
from verdicts import exceptions, false_claims

SETUP = "course = setup("


def seeded(name, seed):
    """A notebook whose setup cell sets another seed."""
    notebook = read(name)
    _, cell = code_cells(notebook)[0]
    assert cell.source.count(SETUP) == 1, f"{path(name)}: the first code cell does not call setup"
    cell.source = cell.source.replace(SETUP, f"{SETUP}seed={seed}, ")
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
