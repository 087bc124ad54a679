import importlib.util
from pathlib import Path

import pytest

from attention_course import recorded

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "sweeps.py"


@pytest.fixture(scope="module")
def sweeps():
    spec = importlib.util.spec_from_file_location("sweeps", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_record_was_made_with_the_settings_of_the_script(sweeps):
    record = recorded.load("bottleneck_lengths")
    assert record["settings"] == {name: settings | sweeps.COMMON for name, settings in sweeps.LENGTHS.items()}
    made = {(result["experiment"], result["attention"], result["seed"]) for result in record["results"]}
    assert made == {(name, a, seed) for name in sweeps.LENGTHS for a in sweeps.ATTENTIONS for seed in sweeps.SEEDS}


def test_a_sweep_still_runs_and_keeps_its_form(sweeps, monkeypatch):
    small = {"task": "copying", "n_symbols": 4, "train_lengths": [2, 3], "test_lengths": [2, 4], "steps": 2}
    monkeypatch.setattr(sweeps, "LENGTHS", {"small": small})
    monkeypatch.setattr(sweeps, "SEEDS", [0])
    results = sweeps.bottleneck_lengths()["results"]
    assert [result["attention"] for result in results] == sweeps.ATTENTIONS
    form = recorded.load("bottleneck_lengths")["results"][-1].keys()
    for result in results:
        assert result.keys() == form
        assert len(result["symbols"]) == len(result["sequences"]) == 2
        assert len(result["alignment_error"]) == (0 if result["attention"] is None else 2)
