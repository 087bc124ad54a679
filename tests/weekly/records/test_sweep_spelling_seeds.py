import pytest
import torch

from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("spelling_seeds")
    assert record["settings"] == sweep.SETTINGS
    assert [result["seed"] for result in record["results"]] == sweep.SEEDS


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "d_model": 8})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    (result,) = sweep.run()["results"]
    assert result.keys() == recorded.load("spelling_seeds")["results"][0].keys()
    assert result["mean_drop"] <= result["largest_drop"]


def test_rank_correlation_sees_the_order_alone(sweep):
    numbers = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    assert sweep.rank_correlation(numbers, numbers.exp()) == pytest.approx(1)
    assert sweep.rank_correlation(numbers, -numbers) == pytest.approx(-1)
