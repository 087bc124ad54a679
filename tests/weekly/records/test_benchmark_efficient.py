"""What the benchmark of efficient attention promises, without waiting for its timings."""

import importlib
import json
import sys
from importlib import metadata
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def efficient():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("efficient")
    sys.path.remove(str(FOLDER))


@pytest.fixture
def row():
    """Of the variant "linear": as fast as asked for, in too much memory."""
    forward = {str(2**power): {"ms": [1.0, 2.0**power, 3.0], "ratio": 0.01} for power in range(10, 15)}
    return {"variant": "linear", "by": "ours", "forward": forward, "slope": 1.0, "memory growth": 16.0}


def test_every_variant_can_be_called_and_differentiated(efficient):
    pytest.importorskip("transformers", minversion="5")  # as benchmarks/requirements.txt pins
    variants = list(efficient.VARIANTS)
    calls = efficient.make_calls(512, variants, variants)
    assert {variant for variant, by in calls if by == "ours"} == set(variants)
    for call in calls.values():
        output = efficient.forward(call)()
        assert output.shape == (efficient.BATCH, efficient.N_HEADS, 512, efficient.D_HEAD) and output.isfinite().all()
    for name in efficient.BACKWARD:
        gradients = efficient.forward_backward(calls[name, "ours"])()
        assert all(gradient.isfinite().all() and gradient.abs().max() > 0 for gradient in gradients)


def test_installed_peers_compute_what_they_are_compared_with(efficient):
    pytest.importorskip("transformers", minversion="5")
    differences = efficient.check_peers(list(efficient.VARIANTS), n_tokens=512)
    installed = {package for package in ("transformers", "linformer") if _is_installed(package)}
    assert installed <= {name.rpartition(": ")[2] for name in differences}


def _is_installed(package):
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def test_a_peer_that_computes_something_else_is_refused(efficient, monkeypatch):
    peers = sys.modules["peers"]
    wrong = peers.Peer("torch", lambda ours, q, k, v: peers.Call(lambda q, k, v: 2 * ours(q, k, v)[0], (q, k, v)))
    monkeypatch.setitem(efficient.PEERS, "window", [wrong])
    with pytest.raises(ValueError, match="torch's window must differ by rounding alone, got 1.0"):
        efficient.check_peers(["window"], n_tokens=256)


def test_a_slope_is_the_power_of_a_power_law(efficient):
    assert efficient.slope({n: 3 * n**1.5 for n in (2048, 4096, 16384)}) == 1.5
    assert efficient.slope({1024: 1.0, 2048: 9.0, 4096: 18.0}) == 1.0  # shorter ones are not looked at
    assert efficient.slope({1024: 1.0, 2048: 2.0}) is None


def test_goals_are_judged_by_what_was_reached(efficient, row):
    judged = {goal["what"]: goal["met"] for goal in efficient.judge([row])}
    assert judged == {"forward, 16,384 tokens": True, "slope of time": True, "growth of memory": False}
    assert efficient.judge([row | {"by": "linformer"}]) == []
    row["forward"]["16384"]["ratio"] = 0.0131
    assert not efficient.judge([row])[0]["met"]
    del row["forward"]["16384"]  # fewer lengths than asked for: no slope to judge
    assert [goal["what"] for goal in efficient.judge([row])] == ["growth of memory"]


def test_some_of_it_can_be_run_and_records_nothing(efficient, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(efficient, "RESULTS", tmp_path)
    monkeypatch.setattr(efficient, "THREADS", torch.get_num_threads())
    monkeypatch.setattr(sys, "argv", ["efficient.py", "--lengths", "256", "512", "--only", "window", "linear"])
    efficient.main()
    printed = capsys.readouterr().out
    assert "window" in printed and "256" in printed and "LSH" not in printed
    for package in ("local-attention", "performer-pytorch"):
        assert (f"{package} is not installed: left out" in printed) != _is_installed(package)
    assert not list(tmp_path.iterdir())


def test_the_record_is_of_the_whole_benchmark_and_its_verdicts_follow_from_it(efficient):
    record = json.loads((FOLDER / "results" / "efficient.json").read_text(encoding="utf-8"))
    ours = {row["variant"]: row for row in record["rows"] if row["by"] == "ours"}
    assert list(ours) == list(efficient.VARIANTS) and record["threads"] == efficient.THREADS
    for variant, row in ours.items():
        lengths = [n for n in efficient.REPEATS if n <= efficient.LONGEST.get(variant, n)]
        assert list(row["forward"]) == list(row["extra MiB"]) == [str(n) for n in lengths]
        assert ("forward + backward" in row) == (variant in efficient.BACKWARD)
    assert record["goals"] == efficient.judge(record["rows"])
    assert efficient.tables(record).count("MISSED") == sum(not goal["met"] for goal in record["goals"])


def test_errors_of_the_approximations_fall_with_their_budget(efficient):
    record = json.loads((FOLDER / "results" / "efficient.json").read_text(encoding="utf-8"))["errors"]
    errors = [row["error"] for row in record["Performer"] if row["scale"] == 0.5]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.5 * errors[0]
    for name in {row["tokens"] for row in record["LSH"]}:
        recalls = [row["recall"] for row in record["LSH"] if row["tokens"] == name]
        assert recalls == sorted(recalls) and recalls[-1] > 2 * recalls[0]
