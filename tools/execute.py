"""Run the notebooks that changed, or whose part of the package changed, into the cache that the book is built from."""

import hashlib
import sys
from functools import partial
from pathlib import Path

from budget import slowest
from dependencies import Package, depends_on
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from notebooks import code_cells, names, path, read, run, run_together

CACHE = Path("_build/.jupyter_cache")
DECIDE_WHAT_RUNS = {"raises-exception", "skip-execution"}


def fingerprint(notebook, package):
    """A checksum of all that decides what a notebook shows: its code, the pins, and what it uses of the package."""
    cells = [cell for _, cell in code_cells(notebook)]
    sources = [cell.source for cell in cells]
    tags = [sorted(DECIDE_WHAT_RUNS & set(cell.metadata.get("tags", []))) for cell in cells]
    parts = [repr(sources), repr(tags), Path("requirements.txt").read_text()]
    parts += [f"{file} {content!r}" for file, content in sorted(depends_on(package, sources).items())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def records_of(cache, name):
    """What the cache has of a notebook."""
    return [record for record in cache.list_cache_records() if record.uri == name]


def keep(cache, name, notebook, data):
    """Put a notebook with its outputs into the cache, in place of those it had before."""
    for record in records_of(cache, name):
        cache.remove_cache(record.pk)
    cache.cache_notebook_bundle(CacheBundleIn(notebook, name, data=data), check_validity=False, overwrite=True)


def move_outputs(executed, notebook):
    """Give a notebook, whose cells' metadata alone changed, the outputs it has already."""
    for (_, old), (_, new) in zip(code_cells(executed), code_cells(notebook), strict=True):
        new.outputs, new.execution_count = old.outputs, old.execution_count
    notebook.metadata = executed.metadata


def find_stale(cache, package):
    """What is to be run: `{name: fingerprint}`. The cache's key has each cell's metadata in it, so it is kept up."""
    records = {record.data.get("fingerprint"): record for record in cache.list_cache_records()}
    stale = {}
    for name in names():
        notebook = read(name)
        now = fingerprint(notebook, package)
        if now not in records:
            stale[name] = now
        elif cache.create_hashed_notebook(notebook)[1] != records[now].hashkey:
            move_outputs(cache.get_cache_bundle(records[now].pk).nb, notebook)
            keep(cache, name, notebook, records[now].data)
    return stale


def expected(name, cache):
    """How long a notebook took the last time; before the first time, a guess: its code's length in characters."""
    before = [record.data["execution_seconds"] for record in records_of(cache, name)]
    return max(before, default=sum(len(cell.source) for _, cell in code_cells(read(name))))


def main():
    """Run what is stale, and name every cell that failed."""
    cache = get_cache(str(CACHE))
    stale = find_stale(cache, Package("."))
    order = sorted(stale, key=lambda name: expected(name, cache), reverse=True)
    if order:
        print(f"== running {len(order)} notebooks, two at a time: {', '.join(order)}", flush=True)
    failed = []
    for number, done in enumerate(run_together([partial(run, name, read(name)) for name in order]), 1):
        seconds = sum(done.cell_seconds.values())
        print(f"notebook {number} of {len(order)}: {done.name}, {seconds:.0f} s", flush=True)
        if done.failures:
            failed.append(done)
        else:
            data = {
                "execution_seconds": seconds,
                "cell_seconds": done.cell_seconds,
                "fingerprint": stale[done.name],
            }
            keep(cache, done.name, done.notebook, data)
    if order and not failed:
        Path("_build/slowest.txt").write_text(slowest(cache))
    for done in failed:
        for number, source, error in done.failures:
            code = "\n".join(f"    {line}" for line in source.splitlines())
            print(f"{path(done.name)}: cell {number} failed: {error}\n{code}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
