"""What the benchmark beside flash-linear-attention promises, without waiting for its timings."""

import importlib
import json
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from attention_course.efficient.gated_linear import gated_linear_attention
from attention_course.efficient.retention import retention
from attention_course.efficient.sinks import sink_attention

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("flash_linear")
    sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("kind", ["forward", "forward + backward"])
def test_every_layer_can_be_called_and_differentiated(bench, kind):
    pytest.importorskip("transformers", minversion="5")  # as benchmarks/requirements.txt pins
    calls = bench.make_calls(128, list(bench.LAYERS), kind)
    assert {variant for variant, by in calls if by == "ours"} == set(bench.LAYERS)
    for call in calls.values():
        found = bench.KINDS[kind](call)()
        if kind == "forward":
            assert found.shape == (bench.BATCH, bench.N_HEADS, 128, bench.D_HEAD) and found.isfinite().all()
        else:
            assert all(gradient.isfinite().all() and gradient.abs().max() > 0 for gradient in found)


def test_what_a_layer_learns_besides_its_projections_is_differentiated_too(bench):
    calls = bench.make_calls(64, list(bench.LAYERS))
    inputs = {variant: len(call.inputs) for (variant, by), call in calls.items() if by == "ours"}
    assert inputs == {"window with sinks": 3, "decay": 4, "gate": 4, "delta": 4, "gated delta": 5, "top-k": 3}


def test_without_its_projections_a_layer_computes_its_definition(bench):
    query, key, value = torch.randn(3, 1, bench.N_HEADS, 200, bench.D_HEAD)
    log_decay, log_gate = (F.logsigmoid(torch.randn(1, bench.N_HEADS, 200, width)) for width in (1, bench.D_HEAD))
    log_decay = log_decay[:, :, :1].expand(-1, -1, 200, -1)
    asked = query * bench.D_HEAD**-0.5
    given = {"decay": [log_decay], "gate": [log_gate], "window with sinks": []}
    expected = {
        "decay": retention(asked, key, value, log_decay[0, :, 0, 0].exp()),
        "gate": gated_linear_attention(asked, key, value, log_gate.exp()),
        "window with sinks": sink_attention(query, key, value, window=bench.WINDOW, n_sinks=4)[0],
    }
    for variant, others in given.items():
        found = bench.without_projections(bench.LAYERS[variant]())(query, key, value, *others)
        assert torch.allclose(found, expected[variant], atol=1e-4), variant


def test_installed_peers_compute_what_ours_does(bench):
    pytest.importorskip("transformers", minversion="5")
    differences = bench.check_peers(list(bench.LAYERS), n_tokens=256)
    installed = {package for package in ("transformers", "fla-core") if bench.installed_version(package)}
    assert installed == {name.rpartition(": ")[2] for name in differences}


def test_a_peer_that_computes_something_else_is_refused(bench, monkeypatch):
    monkeypatch.setitem(bench.PEERS, "decay", {"numpy": lambda query, *others: query})
    with pytest.raises(ValueError, match="numpy's decay must differ by rounding alone"):
        bench.check_peers(["decay"], n_tokens=64)


def test_a_peer_is_left_out_where_it_would_take_too_long(bench, monkeypatch):
    monkeypatch.setitem(bench.PEERS, "decay", {"numpy": lambda query, *others: query})
    monkeypatch.setitem(bench.LONGEST, ("decay", "numpy", "forward + backward"), 64)
    made = {
        (n_tokens, kind): ("decay", "numpy") in bench.make_calls(n_tokens, ["decay"], kind)
        for n_tokens in (64, 65)
        for kind in bench.KINDS
    }
    assert [name for name, there in made.items() if not there] == [(65, "forward + backward")]


def test_some_of_it_can_be_run_and_records_nothing(bench, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "THREADS", torch.get_num_threads())
    monkeypatch.setattr(sys, "argv", ["flash_linear.py", "--lengths", "64", "128", "--only", "decay", "delta"])
    bench.main()
    printed = capsys.readouterr().out
    assert "decay" in printed and "forward + backward, 128" in printed and "top-k" not in printed
    assert ("fla-core is not installed: left out" in printed) != bool(bench.installed_version("fla-core"))
    assert not list(tmp_path.iterdir())


def test_the_record_is_of_the_whole_benchmark(bench):
    record = json.loads((FOLDER / "results" / "flash_linear.json").read_text(encoding="utf-8"))
    assert record["threads"] == bench.THREADS and all(record["packages"].values())
    rows = {(row["variant"], row["by"]): row for row in record["rows"]}
    expected = {(variant, package) for variant, peers in bench.PEERS.items() for package in peers}
    assert rows.keys() == expected | {(variant, "ours") for variant in bench.LAYERS} | {(bench.FUSED_CAUSAL, "torch")}
    for name, row in rows.items():
        for kind in bench.KINDS:
            longest = bench.LONGEST.get((*name, kind), max(bench.REPEATS))
            assert list(row[kind]) == [str(n_tokens) for n_tokens in bench.REPEATS if n_tokens <= longest]
    for kind in bench.KINDS:
        assert all(timing["ratio"] == 1 for timing in rows[bench.FUSED_CAUSAL, "torch"][kind].values())
