"""Run the notebooks that changed, or whose part of the package changed, into the cache that the book is built from."""

import hashlib
import shutil
import sys
from pathlib import Path

from budget import slowest
from by_nbval import run_by_nbval
from dependencies import Package, depends_on
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.db import NbCacheRecord
from notebooks import code_cells, names, path, read
from verdicts import exceptions, false_claims

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


def forget_what_is_broken(cache):
    """Take out of the cache what an interruption or a full disk has left half written."""
    for record in cache.list_cache_records():
        try:
            cache.get_cache_bundle(record.pk)
        except (KeyError, ValueError):
            shutil.rmtree(CACHE / "executed" / record.hashkey, ignore_errors=True)
            NbCacheRecord.remove_records([record.pk], cache.db)


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


def find_stale(cache, package, chosen=None):
    """What is to be run, of all notebooks or of some: `{name: fingerprint}`.

    The cache's key has each cell's metadata in it, so it is kept up.
    """
    records = {record.data.get("fingerprint"): record for record in cache.list_cache_records()}
    stale = {}
    for name in chosen or names():
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


def last_records(cache, chosen=None):
    """What the cache has of each notebook as it stands, of all of them or of some: `{name: record}`."""
    try:
        return {name: cache.match_cache_notebook(read(name)) for name in chosen or names()}
    except KeyError:
        changed = ", ".join(str(path(name)) for name in find_stale(cache, Package("."), chosen))
        sys.exit(f"Edited while the notebooks ran, or not run yet: {changed}. Run `make site` again.")


def in_words(done):
    """How a run went, in one line."""
    raised, false = exceptions(done.notebook), false_claims(done.notebook)
    words = [f"{done.name}, {sum(done.cell_seconds.values()):.0f} s"]
    words += [f"cell {number} failed: {error}" for number, _, error in raised]
    words += [f"not so in this run: {sentence}" for _, sentence in false]
    return "; ".join(words)


def run_stale(chosen=None):
    """Run what is stale, of all notebooks or of some. One that failed is kept too, for its page, and runs again."""
    cache = get_cache(str(CACHE))
    forget_what_is_broken(cache)
    stale = find_stale(cache, Package("."), chosen)
    order = sorted(stale, key=lambda name: expected(name, cache), reverse=True)
    kept = []

    def keep_run(done):
        data = {"execution_seconds": sum(done.cell_seconds.values()), "cell_seconds": done.cell_seconds}
        if not exceptions(done.notebook):
            data["fingerprint"] = stale[done.name]
        keep(cache, done.name, done.notebook, data)
        kept.append(done.name)
        print(f"notebook {len(kept)} of {len(order)}: {in_words(done)}", flush=True)

    if order:
        print(f"== running {len(order)} notebooks, two at a time: {', '.join(order)}", flush=True)
        run_by_nbval({name: read(name) for name in order}, keep_run)
    records = last_records(cache, chosen)
    return slowest({name: record.data for name, record in records.items()})
