import pytest

from attention_course import recorded


def kept(record):
    """What a case of the record asks, and nothing of what came of it."""
    asked = {"call", "backend", "causal", "backward", "shape", "rotate", "zigzag"}
    return [{name: value for name, value in result.items() if name in asked} for result in record["results"]]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("ring_pytorch")
    assert record["settings"] == {"n_processes": sweep.N_PROCESSES, "cases": sweep.CASES}
    assert kept(record) == sweep.CASES


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    pytest.importorskip("torch.distributed.tensor.experimental._context_parallel")  # not in PyTorch 2.5
    quick = [case for case in sweep.CASES if case.get("backend") != "default"]  # which takes half a minute a shape
    monkeypatch.setattr(sweep, "CASES", quick)
    found, record = sweep.run(), recorded.load("ring_pytorch")
    assert found.keys() == record.keys() - {"machine", "date"}
    assert found["defaults"].keys() == record["defaults"].keys()
    assert [result.keys() for result in found["results"]] == [
        result.keys() for result in record["results"] if result.get("backend") != "default"
    ]
    assert all(result["error"] < 1e-5 for result in found["results"] if "error" in result)
