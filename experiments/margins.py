"""Measure how much of each tolerance the tests of the package use in three instruction sets, and record the most.

make margins                                     all tests of the package; the result goes to tests/margins.json
make margins FILES="package/distributed/test_ring.py ..."      only these, beside the last result of the others

PyTorch picks other kernels for another instruction set, sums are rounded in another order, and what is trained with
them is another model: one processor can be three machines. What is recorded of a test is its worst comparison:
- of a tolerance, the largest share of it that was used;
- of a bound on something that is no error, as that of a trained model's loss, how far the results of the three lie
  apart, as a share of how far off the bound is;
- nothing of what comes out the same in all three: no rounding takes part in it, and it may use all of its tolerance.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))
from instructions import AVX2, PLAINEST, need_x86  # noqa: E402

SETS = {"its own": {}, "AVX2": AVX2, "the plainest": PLAINEST}
ALLOWED = 1 / 3
SAME = 0.001  # results that differ by less than a thousandth are the same

TESTS = ROOT / "tests"
RECORD = TESTS / "margins.json"
OF_THE_PACKAGE = ["package", "classroom", "weekly/package", "weekly/records"]
HANDS = 2  # how many runs a set is dealt to
# With the last of them what runs in Triton's interpreter runs in the process that measures, and not in one beside it.
SETTINGS = {"PYTHONPATH": str(ROOT / "experiments"), "OMP_NUM_THREADS": "1", "TRITON_INTERPRET": "1"}


def test_files() -> list[str]:
    """The files that try the package, within tests, but for the one that reads the record."""
    paths = (path for folder in OF_THE_PACKAGE for path in (TESTS / folder).rglob("test_*.py"))
    return sorted(str(path.relative_to(TESTS)) for path in paths if path.name != "test_margins.py")


def measure(instructions: str, files: list[str]) -> dict:
    """What `tolerances.py` finds in a run of some files with an instruction set."""
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "found.json")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tolerances", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, "--tolerances-to", written, *(f"tests/{file}" for file in files)],
            cwd=ROOT,
            env=os.environ | SETS[instructions] | SETTINGS,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"With {instructions} instructions not all tests passed:\n{done.stdout[-8000:]}")
        print(f"{len(files)} files with {instructions} instructions: {time.time() - began:.0f} s", flush=True)
        return json.loads(written.read_text())


def used(kind: str, shares: list[float]) -> float:
    """What one comparison uses of its margin, of its shares in the three sets."""
    largest, apart = max(shares), max(shares) - min(shares)
    if largest > 1 or apart <= SAME * largest:  # above 1 is what a test wants not to be close, as a wrong answer
        return 0.0
    if kind == "tolerance":
        return largest
    return min(apart / (1 - largest), 1.0) if largest < 1 else 1.0


def comparisons(runs: dict[str, list[dict]]) -> dict:
    """By test and line the kind of a comparison, and its largest share in each of the sets."""
    found = defaultdict(lambda: ["", dict.fromkeys(runs, 0.0)])
    for instructions, parts in runs.items():
        for test, lines in ((test, lines) for part in parts for test, lines in part["found"].items()):
            for line, (kind, share) in lines.items():
                found[test, line][0] = max(found[test, line][0], kind)
                found[test, line][1][instructions] = share
    return found


def summary(runs: dict[str, list[dict]]) -> dict[str, dict[str, float | None]]:
    """By file and test function the most that a comparison uses; None where it was skipped."""
    files = defaultdict(dict)
    for test in (test for parts in runs.values() for part in parts for test in part["skipped"]):
        file, name = test.partition("[")[0].split("::")
        files[file.removeprefix("tests/")].setdefault(name, None)
    for (test, _), (kind, shares) in comparisons(runs).items():
        file, name = test.partition("[")[0].split("::")
        functions = files[file.removeprefix("tests/")]
        functions[name] = max(functions.get(name) or 0.0, round(used(kind, list(shares.values())), 3))
    return files


def processor() -> str:
    """The processor's name, and which of its instructions PyTorch takes by itself."""
    about = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.partition(":")[2].strip() for line in about.splitlines() if line.startswith("model name")]
    return f"{(names or [platform.machine()])[0]}, {torch.backends.cpu.get_cpu_capability()}"


def record(measured: dict, chosen: list[str]) -> dict:
    """Put what was measured of some files beside the last results of the others that are still there."""
    known = json.loads(RECORD.read_text(encoding="utf-8"))["used"] if RECORD.exists() else {}
    files = {file: {} if file in chosen else known.get(file, {}) for file in test_files()} | measured
    result = {
        "date": date.today().isoformat(),
        "processor": processor(),
        "versions": {"Python": platform.python_version()} | {name: version(name) for name in ("torch", "numpy")},
        "sets": list(SETS),
        "used": {file: dict(sorted(files[file].items())) for file in sorted(files) if files[file]},
    }
    RECORD.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result["used"]


def too_narrow(files: dict[str, dict]) -> list[str]:
    """The test functions that use more of a tolerance than they may."""
    return [
        f"tests/{file}::{name} uses {share:.0%}"
        for file, functions in files.items()
        for name, share in functions.items()
        if share and share > ALLOWED
    ]


def main():
    """Measure two runs at a time, record, and fail where a margin is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=test_files(), help="within tests; without any, all")
    chosen = parser.parse_args().files
    if not set(chosen) <= set(test_files()):
        parser.error(f"files must be test files of the package, within tests, got {' '.join(chosen)}")
    need_x86()
    hands = [hand for n in range(HANDS) if (hand := chosen[n::HANDS])]
    with ThreadPoolExecutor(HANDS) as pool:
        futures = {instructions: [pool.submit(measure, instructions, hand) for hand in hands] for instructions in SETS}
        runs = {instructions: [future.result() for future in parts] for instructions, parts in futures.items()}
    narrow = too_narrow(record(summary(runs), chosen))
    print("\n".join(narrow) or f"{RECORD.relative_to(ROOT)}: no test uses more than a third of a tolerance")
    sys.exit(bool(narrow))


if __name__ == "__main__":
    main()
