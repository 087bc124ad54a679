"""How often each claim holds: every notebook, or those named (`chapters/flash`), ten times.

A trained model is another model with another seed, and on another processor, which rounds in another order: five runs
with five seeds compute as this processor likes, five as others would. Each run is kept in _build/odds when it ends, so
that an interrupted `make odds` goes on where it was, and only what changed runs again. What came of all ten is one
record, which the site shows.

Where the package alone changed, the first of the ten runs is made again, with the instructions that all x86 processors
have, so that none prints other digits than another. If it prints and draws, to the last digit, what it did before, the
page computes what it computed, and its record stands.
"""

import ast
import hashlib
import json
import sys
import time
from collections import defaultdict
from datetime import date
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from dependencies import PACKAGE, Package, depends_on, parse, parse_cell
from execute import CACHE, expected
from instructions import AVX2, PLAINEST, need_x86
from jupyter_cache import get_cache
from kinds import kinds_of_claims
from notebooks import code_cells, names, path, read, run, run_together
from seeds import seeded
from verdicts import claims, exceptions, without_numbers

RECORD = Path("experiments/results/odds.json")
RUNS = Path("_build/odds")
# Threads that wait for each other without rest would take the other run's core from it.
TWO_THREADS = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
ARITHMETIC = {"native": {}, "plainest": PLAINEST, "AVX2": AVX2, "two threads": TWO_THREADS}
OTHERS = ("plainest", "AVX2", "two threads")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)  # what has a docstring
SHOWN = ("text/plain", "text/html", "image/png")
MEASURES = {"perf_counter", "time_calls", "peak_memory", "describe_machine"}  # other numbers each time
MEASURED_ANEW = {"machine": "", "date": ""}
TEN = [(seed, OTHERS[seed % len(OTHERS)]) for seed in range(5)] + [(seed, "native") for seed in range(5)]


class Decisive(ast.NodeTransformer):
    """Takes out docstrings, and where in the package a name is imported from; keeps the names."""

    def __init__(self):
        self.imported = []

    def visit(self, node):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
        return super().visit(node)

    def visit_ImportFrom(self, node):
        if not node.module or node.module.split(".")[0] != PACKAGE:
            return node
        self.imported += map(ast.unparse, node.names)
        return ast.Pass()


@cache
def code_of(source):
    """What of a module or a cell could decide a claim: its code without docstrings, comments and blanks."""
    try:
        tree = parse(source)
    except SyntaxError:
        return source.splitlines()
    decisive = Decisive()
    lines = ast.unparse(decisive.visit(tree)).splitlines()
    return [*(line for line in lines if line.strip() not in ("", "pass")), *sorted(decisive.imported)]


def checksum_of(*parts):
    """Sixteen digits that are others where a part is."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def repeatable(notebook):
    """Its cells behind the setup cell, without those that measure times or memory, themselves or by their functions."""
    measures = set(MEASURES)
    for _, cell in code_cells(notebook)[1:]:
        nodes = list(ast.walk(parse_cell(cell.source)))
        if measures & {getattr(node, "id", None) or getattr(node, "attr", None) for node in nodes}:
            measures |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        else:
            yield cell


def shown(notebook):
    """A checksum of what a notebook prints, draws and raises where that can be repeated, but for progress bars."""
    parts = []
    for output in [output for cell in repeatable(notebook) for output in cell.outputs]:
        if output.output_type == "error":
            parts.append(output.evalue)
        elif output.output_type != "stream":
            parts += [output.data[kind] for kind in SHOWN if kind in output.data]
        elif output.name == "stdout":
            parts.append(output.text)
    return checksum_of(*parts)


def versions():
    """Of what computes, without the part that names a build: PyPI's own and the one for CPUs compute alike."""
    return {package: version(package).partition("+")[0] for package in ("torch", "numpy")}


def cells_of(notebook):
    """What of the cells could decide a claim; the setup cell does not."""
    return [repr(code_of(cell.source)) for _, cell in code_cells(notebook)[1:]]


def own(notebook):
    """A checksum of what decides how often claims hold, besides the package."""
    return checksum_of(*cells_of(notebook), *versions().values())


def fingerprint(notebook, package):
    """A checksum of what decides how often claims hold.

    Neither the setup cell does, nor exercises with what grades them, nor explorers' views, nor where a file stands.
    """
    files = depends_on(package, [cell.source for _, cell in code_cells(notebook)[1:]])
    unread = [package.root / PACKAGE / part for part in ("exercises", "explore/views")]
    counted = {file: content for file, content in files.items() if not any(map(file.is_relative_to, unread))}
    used = {repr(code_of(content.decode()) if file.suffix == ".py" else content) for file, content in counted.items()}
    return checksum_of(*cells_of(notebook), *sorted(used - {"[]"}), *versions().values())


def kept(name, seed, arithmetic):
    """The file of a run."""
    return RUNS / f"{name} {seed} {arithmetic}.json".replace("/", "-").replace(" ", "-")


def load(file, checksum):
    """A run of the notebook with this checksum; `None` where there is none."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found if found.get("fingerprint") == checksum else None


def now(name):
    """The checksum of a notebook as it and the package stand at this moment."""
    return fingerprint(read(name), Package("."))


def one_run(name, seed, arithmetic):
    """Run a notebook once, and keep what became of its claims, unless it was cut short or changed meanwhile."""
    before = now(name)
    done = run(name, seeded(name, seed), environment=ARITHMETIC[arithmetic])
    cell_ids = {number: cell.id for number, cell in code_cells(done.notebook)}
    found = {
        "fingerprint": before,
        "claims": [(cell_ids[number], sentence, holds) for number, sentence, holds in claims(done.notebook)],
        "exceptions": [f"cell {number}: {error}" for number, _, error in exceptions(done.notebook)],
        "shown": shown(done.notebook),
    }
    if not done.cut_short and now(name) == before:
        file = kept(name, seed, arithmetic)
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = file.with_suffix(".tmp")
        whole.write_text(json.dumps(found), encoding="utf-8")
        whole.replace(file)  # at once, so that no half of a file is taken for a run
    return name, seed, arithmetic, found


def odds_of(runs):
    """How often each claim held: `{(cell, sentence without its numbers): (sentence, runs in which it held)}`.

    A claim that is printed only where it does not hold has held in all other runs. One that is printed when it holds,
    and missing from a run, has not held in that one: an exception came first.
    """
    printed = defaultdict(lambda: [None] * len(runs))
    sentences = {}
    for number, found in enumerate(runs):
        for cell, sentence, holds in found["claims"]:
            key = cell, without_numbers(sentence)
            sentences.setdefault(key, sentence)
            printed[key][number] = holds and printed[key][number] is not False
    odds = {}
    for key, held in printed.items():
        missing_is = not any(held)
        odds[key] = sentences[key], sum(missing_is if one is None else one for one in held)
    return odds


def page_record(name, old):
    """The record of a page, as it stands: the old one, or from its ten runs; `None` while some are missing."""
    checksum = now(name)
    first = load(kept(name, *TEN[0]), checksum)
    if first and old.get("own") == own(read(name)) and old["shown"] == first["shown"]:
        return old | {"fingerprint": checksum}
    runs = [load(kept(name, *which), checksum) for which in TEN]
    if None in runs:
        return None
    kinds = kinds_of_claims(read(name))
    rows = [
        {"cell": cell, "sentence": sentence, "kind": kinds[cell], "held": n_held}
        for (cell, _), (sentence, n_held) in odds_of(runs).items()
    ]
    raised = [
        f"seed {seed}, {arithmetic}: {error}"
        for (seed, arithmetic), found in zip(TEN, runs, strict=True)
        for error in found["exceptions"]
    ]
    checksums = {"fingerprint": checksum, "own": own(read(name)), "shown": runs[0]["shown"]}
    from attention_course.course.measure import describe_machine  # here, since PyTorch takes its time

    where = {"machine": describe_machine(), "date": date.today().isoformat()}
    return checksums | where | {"runs": len(TEN), "claims": rows, "exceptions": raised}


def recorded_pages():
    """What the record says of each page."""
    return json.loads(RECORD.read_text(encoding="utf-8"))["pages"] if RECORD.exists() else {}


def write_record():
    """Write the record anew, and return it: of pages whose ten runs are there, the others as they stood."""
    old = recorded_pages()
    pages = {name: page_record(name, old.get(name, {})) or old.get(name) for name in names()}
    for name, page in pages.items():
        if page and page | MEASURED_ANEW == old.get(name, {}) | MEASURED_ANEW:
            pages[name] = old[name]
    record = {"versions": versions(), "pages": {name: page for name, page in pages.items() if page}}
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return record["pages"]


def write_for_the_site(folder):
    """Write what the site shows: of the pages that are as they were when they ran, how often each claim held."""
    package = Package(".")
    valid = {
        name: page
        for name, page in recorded_pages().items()
        if path(name).exists() and page["fingerprint"] == fingerprint(read(name), package)
    }
    (folder / "odds.json").write_text(json.dumps(valid), encoding="utf-8")


def without_record(chosen, pages):
    """Which of these notebooks have no record as they stand."""
    return [name for name in chosen if pages.get(name, {}).get("fingerprint") != now(name)]


def run_missing(wanted, chosen):
    """Of these runs of these notebooks, run what is missing, two at a time, and say how far it is and when it ends."""
    checksums = {name: now(name) for name in chosen}
    missing = [
        (name, *which)
        for which in wanted
        for name, checksum in checksums.items()
        if load(kept(name, *which), checksum) is None
    ]
    print(f"== {len(missing)} runs of {len({name for name, _, _ in missing})} notebooks", flush=True)
    cache = get_cache(str(CACHE))
    seconds = {name: expected(name, cache) for name, _, _ in missing}
    in_all, so_far, begun = sum(seconds[name] for name, _, _ in missing), 0, time.time()
    for name, seed, arithmetic, found in run_together([partial(one_run, *which) for which in missing]):
        so_far += seconds[name]
        end = time.strftime("%H:%M", time.localtime(begun + (time.time() - begun) * in_all / so_far))
        false = [sentence for _, sentence, holds in found["claims"] if not holds]
        print(f"{so_far / in_all:4.0%}, until about {end}: {name}, seed {seed}, {arithmetic}", flush=True)
        print("".join(f"      not so: {line}\n" for line in [*false, *found["exceptions"]]), end="", flush=True)


def main():
    """Run what is missing of the ten runs, write the record, and list what does not hold in all of them."""
    need_x86()
    chosen = without_record(sys.argv[1:] or names(), recorded_pages())
    run_missing(TEN[:1], chosen)
    run_missing(TEN, without_record(chosen, write_record()))
    pages = write_record()
    for name in without_record(chosen, pages):
        print(f"{path(name)}: changed while it ran, or was cut short. Run `make odds` again.")
    for name, page in pages.items():
        for claim in page["claims"]:
            if claim["held"] < page["runs"]:
                print(f"{path(name)}: held in {claim['held']} of {page['runs']} runs: {claim['sentence']}")
        for error in page["exceptions"]:
            print(f"{path(name)}: {error}")


if __name__ == "__main__":
    main()
