"""No tolerance is used by more than a third, as `make margins` has measured; and what measures is measured itself."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import margins
import pytest

CLOSE = {"assert_close", "approx", "allclose", "isclose", "assert_allclose"}
RECORD = json.loads(margins.RECORD.read_text(encoding="utf-8"))

# A line of a test, and what is to be noted of it.
HEAD = ["import numpy as np, pytest, torch", "from torch.testing import assert_close", "def test_all():"]
COMPARISONS = [
    ("assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.1, 2.0]), atol=0.5, rtol=0)", "tolerance", 0.2),
    ("np.testing.assert_allclose([10.0], [13.0], rtol=0, atol=10)", "tolerance", 0.3),
    ("assert {'a': 4.0} == pytest.approx({'a': 5.0}, rel=0.5)", "tolerance", 0.4),
    ("assert torch.tensor(4.0) == pytest.approx(5.0, rel=0.5)", "tolerance", 0.4),
    ("assert torch.allclose(torch.ones(2), torch.tensor(1.5), atol=0.25, rtol=0.5)", "tolerance", 0.5),
    ("assert np.isclose([np.nan, np.inf], [np.nan, np.inf], equal_nan=True).all()", "tolerance", 0),
    ("assert [np.isclose(1.0, x, rtol=0, atol=2) for x in (2.0, 4.0)] == [True, False]", "tolerance", 1.5),
    ("assert_close(torch.ones(2), torch.ones(2), atol=0, rtol=0)", "tolerance", 0),
    ("assert 12_000_001 == pytest.approx(12_000_000, rel=0.01)", "tolerance", 0),
    ("assert torch.tensor([0.004, 0.001]).max() < 0.01", "tolerance", 0.4),
    ("assert 3.0 < torch.tensor(4.0) <= 5.0", "bound", 0.8),
    ("assert all(loss < 2 for loss in [0.5, 1.5])", "bound", 0.75),
    ("assert 3 < 4 and 'a' < 'b' and {1} <= {1, 2}",),
]
TAIL = ["@pytest.mark.skip", "def test_skipped(): assert 1.0 < 2.0"]


def named(node: ast.AST) -> set[str]:
    """All names and attributes that a piece of code speaks of."""
    return {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node)}


def asking_for_tolerances(source: str) -> set[str]:
    """The test functions that ask whether something is close, by themselves or by another function of their file."""
    functions = {node.name: named(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    asking = set(CLOSE)
    while more := {name for name, names in functions.items() if names & asking} - asking:
        asking |= more
    return {name for name in asking if name.startswith("test_")}


def test_no_test_uses_more_than_a_third_of_a_tolerance():
    assert not margins.too_narrow(RECORD["used"])


@pytest.mark.parametrize("file", margins.test_files())
def test_every_test_with_a_tolerance_was_measured(file):
    asking = asking_for_tolerances((margins.TESTS / file).read_text(encoding="utf-8"))
    measured = {name for name, share in RECORD["used"].get(file, {}).items() if share is not None}  # and not skipped
    assert asking <= measured, f'measure what is new: make margins FILES="{file}"'


def test_what_was_measured_are_the_versions_that_are_pinned():
    pins = (margins.ROOT / "requirements.txt").read_text().split()
    for name in ("torch", "numpy"):
        assert f"{name}=={RECORD['versions'][name].partition('+')[0]}" in pins, "measure anew: make margins"


def found_in(folder: Path, source: str) -> dict:
    """What a run of some tests finds by line: the kind and the largest share."""
    (folder / "test_made.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "tolerances"]
    done = subprocess.run(
        [*command, "--tolerances-to", "found.json", "test_made.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(margins.ROOT / "experiments")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    found = json.loads((folder / "found.json").read_text())
    assert found["skipped"] == ["test_made.py::test_skipped"] and len(found["found"]) == 1
    return {int(line.rpartition(":")[2]): noted for line, noted in found["found"]["test_made.py::test_all"].items()}


def test_every_kind_of_comparison_is_noted_with_the_share_that_it_uses(tmp_path):
    found = found_in(tmp_path, "\n".join([*HEAD, *(f"    {line}" for line, *_ in COMPARISONS), *TAIL]))
    for number, (line, *noted) in enumerate(COMPARISONS, len(HEAD) + 1):
        assert found.get(number, []) == pytest.approx(noted), line


def test_rounding_takes_no_part_in_what_is_the_same_in_all_sets():
    assert margins.used("tolerance", [0.8, 0.8, 0.8001]) == margins.used("bound", [0, 0, 0]) == 0
    assert margins.used("tolerance", [0.2, 0.25, 0.1]) == 0.25  # of a tolerance the most that was used
    assert margins.used("bound", [0.5, 0.6, 0.55]) == pytest.approx(0.1 / 0.4)  # the way to the bound
    assert margins.used("tolerance", [0.2, 1.5, 0.5]) == 0  # a test that passes does not want it to be close
    assert margins.used("bound", [0.1, 0.9, 0.1]) == margins.used("bound", [0.1, 1, 0.1]) == 1


def test_a_summary_has_the_worst_comparison_of_all_cases_of_a_test():
    def run(*shares, skipped=()):
        lines = [{"file:3": ["tolerance", share]} for share in shares]
        found = {f"tests/sub/test_a.py::test_it[{case}]": line for case, line in enumerate(lines)}
        return {"found": found, "skipped": list(skipped)}

    nothing = run(skipped=["tests/test_b.py::test_there[x]", "tests/test_b.py::test_not"])
    there = {"found": {"tests/test_b.py::test_there[y]": {"file:5": ["bound", 0.5]}}, "skipped": []}
    runs = {"one": [run(0.1, 0.9), there], "two": [run(0.3, 0.9), there], "three": [run(0.2, 0.9), nothing]}
    summary = margins.summary(runs)
    assert summary == {"sub/test_a.py": {"test_it": 0.3}, "test_b.py": {"test_there": 1.0, "test_not": None}}
    assert margins.too_narrow(summary) == ["tests/test_b.py::test_there uses 100%"]
