"""What the benchmarks beside other libraries promise, without waiting for their timings."""

import importlib
import json
import sys
from importlib import metadata

import pytest
import torch
import torch.nn.functional as F
from sweeps import ROOT

from attention_course.efficient.gated_linear import gated_linear_attention
from attention_course.efficient.retention import retention
from attention_course.efficient.sinks import sink_attention

FOLDER = ROOT / "experiments"
sys.path.append(str(FOLDER))
efficient, flash_linear = (importlib.import_module(name) for name in ("efficient", "flash_linear"))
BACKWARD = "forward + backward"


def installed(*packages):
    """Those that are, of some packages."""
    return {name for name in packages if any(metadata.distributions(name=name))}


def record(name):
    return json.loads((FOLDER / "results" / f"{name}.json").read_text(encoding="utf-8"))


# Called, differentiated, and compared with others ---------------------------------------------------------------------


def made_and_measured(kind):
    """Each of our calls, and what is measured of it."""
    calls = flash_linear.make_calls(128, list(flash_linear.LAYERS), kind)
    assert {variant for variant, by in calls if by == "ours"} == set(flash_linear.LAYERS)
    yield from ((128, flash_linear, flash_linear.KINDS[kind](call)()) for call in calls.values())
    variants = list(efficient.VARIANTS)
    calls = efficient.make_calls(512, variants, variants)
    assert {variant for variant, by in calls if by == "ours"} == set(variants)
    if kind == BACKWARD:
        calls = {(name, "ours"): calls[name, "ours"] for name in efficient.BACKWARD}
    measure = efficient.forward_backward if kind == BACKWARD else efficient.forward
    yield from ((512, efficient, measure(call)()) for call in calls.values())


@pytest.mark.parametrize("kind", ["forward", BACKWARD])
def test_everything_can_be_called_and_differentiated(kind):
    pytest.importorskip("transformers", minversion="5")  # as experiments/requirements.txt pins
    for n_tokens, bench, found in made_and_measured(kind):
        if kind == BACKWARD:
            assert all(gradient.isfinite().all() and gradient.abs().max() > 0 for gradient in found)
        else:
            assert found.shape == (bench.BATCH, bench.N_HEADS, n_tokens, bench.D_HEAD) and found.isfinite().all()


def test_what_a_layer_learns_besides_its_projections_is_differentiated_too():
    calls = flash_linear.make_calls(64, list(flash_linear.LAYERS))
    inputs = {variant: len(call.inputs) for (variant, by), call in calls.items() if by == "ours"}
    assert inputs == {"window with sinks": 3, "decay": 4, "gate": 4, "delta": 4, "gated delta": 5, "top-k": 3}


def test_without_its_projections_a_layer_computes_its_definition():
    width = flash_linear.D_HEAD
    query, key, value = torch.randn(3, 1, flash_linear.N_HEADS, 200, width)
    log_decay, log_gate = (F.logsigmoid(torch.randn(1, flash_linear.N_HEADS, 200, size)) for size in (1, width))
    log_decay = log_decay[:, :, :1].expand(-1, -1, 200, -1)
    asked = query * width**-0.5
    sinks = sink_attention(query, key, value, window=flash_linear.WINDOW, n_sinks=4)[0]
    for variant, gates, expected in (
        ("decay", [log_decay], retention(asked, key, value, log_decay[0, :, 0, 0].exp())),
        ("gate", [log_gate], gated_linear_attention(asked, key, value, log_gate.exp())),
        ("window with sinks", [], sinks),
    ):
        found = flash_linear.without_projections(flash_linear.LAYERS[variant]())(query, key, value, *gates)
        assert torch.allclose(found, expected, atol=1e-4), variant


def test_installed_peers_compute_what_ours_does():
    pytest.importorskip("transformers", minversion="5")
    compared = {name.rpartition(": ")[2] for name in efficient.check_peers(list(efficient.VARIANTS), n_tokens=512)}
    assert installed("transformers", "linformer") <= compared
    compared = {name.rpartition(": ")[2] for name in flash_linear.check_peers(list(flash_linear.LAYERS), n_tokens=256)}
    assert installed("transformers", "fla-core") == compared


def test_a_peer_that_computes_something_else_is_refused(monkeypatch):
    peers = sys.modules["peers"]
    wrong = peers.Peer("torch", lambda ours, q, k, v: peers.Call(lambda q, k, v: 2 * ours(q, k, v)[0], (q, k, v)))
    monkeypatch.setitem(efficient.PEERS, "window", [wrong])
    with pytest.raises(ValueError, match="torch's window must differ by rounding alone, got 1.0"):
        efficient.check_peers(["window"], n_tokens=256)
    monkeypatch.setitem(flash_linear.PEERS, "decay", {"numpy": lambda query, *others: query})
    with pytest.raises(ValueError, match="numpy's decay must differ by rounding alone"):
        flash_linear.check_peers(["decay"], n_tokens=64)


def test_a_peer_is_left_out_where_it_would_take_too_long(monkeypatch):
    monkeypatch.setitem(flash_linear.PEERS, "decay", {"numpy": lambda query, *others: query})
    monkeypatch.setitem(flash_linear.LONGEST, ("decay", "numpy", BACKWARD), 64)
    asked = [(n_tokens, ["decay"], kind) for n_tokens in (64, 65) for kind in flash_linear.KINDS]
    left_out = [each for each in asked if ("decay", "numpy") not in flash_linear.make_calls(*each)]
    assert left_out == [(65, ["decay"], BACKWARD)]


@pytest.mark.parametrize(
    ("bench", "lengths", "only", "says", "packages"),
    [
        (efficient, ("256", "512"), ("window", "linear"), "256", ("local-attention", "performer-pytorch")),
        (flash_linear, ("64", "128"), ("decay", "delta"), "forward + backward, 128", ("fla-core",)),
    ],
)
def test_some_of_it_can_be_run_and_records_nothing(monkeypatch, capsys, tmp_path, bench, lengths, only, says, packages):
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "THREADS", torch.get_num_threads())
    monkeypatch.setattr(sys, "argv", ["benchmark", "--lengths", *lengths, "--only", *only])
    bench.main()
    printed = capsys.readouterr().out
    assert only[0] in printed and says in printed and not {"LSH", "top-k"} & set(printed.split())
    assert {name for name in packages if f"{name} is not installed: left out" not in printed} == installed(*packages)
    assert not list(tmp_path.iterdir())


# Their records --------------------------------------------------------------------------------------------------------


def test_a_slope_is_the_power_of_a_power_law():
    assert efficient.slope({n: 3 * n**1.5 for n in (2048, 4096, 16384)}) == 1.5
    assert efficient.slope({1024: 1.0, 2048: 9.0, 4096: 18.0}) == 1.0  # shorter ones are not looked at
    assert efficient.slope({1024: 1.0, 2048: 2.0}) is None


def test_goals_are_judged_by_what_was_reached():
    """Of the variant "linear": as fast as asked for, in too much memory."""
    forward = {str(2**power): {"ms": [1.0, 2.0**power, 3.0], "ratio": 0.01} for power in range(10, 15)}
    row = {"variant": "linear", "by": "ours", "forward": forward, "slope": 1.0, "memory growth": 16.0}
    judged = {goal["what"]: goal["met"] for goal in efficient.judge([row])}
    assert judged == {"forward, 16,384 tokens": True, "slope of time": True, "growth of memory": False}
    assert efficient.judge([row | {"by": "linformer"}]) == []
    forward["16384"]["ratio"] = 0.0131
    assert not efficient.judge([row])[0]["met"]
    del forward["16384"]  # fewer lengths than asked for: no slope to judge
    assert [goal["what"] for goal in efficient.judge([row])] == ["growth of memory"]


def test_the_record_is_of_the_whole_benchmark_and_its_verdicts_follow_from_it():
    made = record("efficient")
    ours = {row["variant"]: row for row in made["rows"] if row["by"] == "ours"}
    assert list(ours) == list(efficient.VARIANTS) and made["threads"] == efficient.THREADS
    for variant, row in ours.items():
        lengths = [n for n in efficient.REPEATS if n <= efficient.LONGEST.get(variant, n)]
        assert list(row["forward"]) == list(row["extra MiB"]) == [str(n) for n in lengths]
        assert (BACKWARD in row) == (variant in efficient.BACKWARD)
    assert made["goals"] == efficient.judge(made["rows"])
    assert efficient.tables(made).count("MISSED") == sum(not goal["met"] for goal in made["goals"])


def test_the_record_beside_flash_linear_attention_is_of_the_whole_benchmark():
    made, bench = record("flash_linear"), flash_linear
    assert made["threads"] == bench.THREADS and all(made["packages"].values())
    rows = {(row["variant"], row["by"]): row for row in made["rows"]}
    expected = {(variant, package) for variant, peers in bench.PEERS.items() for package in peers}
    assert rows.keys() == expected | {(variant, "ours") for variant in bench.LAYERS} | {(bench.FUSED_CAUSAL, "torch")}
    for name, row in rows.items():
        for kind in bench.KINDS:
            longest = bench.LONGEST.get((*name, kind), max(bench.REPEATS))
            assert list(row[kind]) == [str(n_tokens) for n_tokens in bench.REPEATS if n_tokens <= longest]
    fused = rows[bench.FUSED_CAUSAL, "torch"]
    assert all(timing["ratio"] == 1 for kind in bench.KINDS for timing in fused[kind].values())


def test_errors_of_the_approximations_fall_with_their_budget():
    made = record("efficient")["errors"]
    errors = [row["error"] for row in made["Performer"] if row["scale"] == 0.5]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.5 * errors[0]
    for name in {row["tokens"] for row in made["LSH"]}:
        recalls = [row["recall"] for row in made["LSH"] if row["tokens"] == name]
        assert recalls == sorted(recalls) and recalls[-1] > 2 * recalls[0]
