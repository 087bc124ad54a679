import pytest
import torch

from attention_course import recorded
from attention_course.exercises.smaller_caches import pool

RECORD = recorded.load("uptraining")


def of(results, **wanted):
    return [run for run in results if wanted.items() <= run.items()]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    settings = sweep.SETTINGS
    assert RECORD["settings"] == settings
    for n_pairs in (settings["n_heads"], settings["n_pairs"]):
        assert [run["seed"] for run in of(RECORD["results"], way=f"{n_pairs} pairs")] == sweep.SEEDS
    for way in sweep.WAYS:
        tried = of(RECORD["results"], way=way, seed=sweep.SEEDS[0])
        assert [run["lr"] for run in tried] == settings["further_lrs"]
        others = [run for run in of(RECORD["results"], way=way) if run not in tried]
        assert [run["seed"] for run in others] == sweep.SEEDS[1:]
        assert {run["lr"] for run in others} == {sweep.best_lr(tried, way)}


def test_the_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"d_model": 16, "steps": 2, "further_steps": 2, "batch": 2, "n_tokens": 32}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    results = sweep.of_seed(0, dict.fromkeys(sweep.WAYS, [0.01]))
    assert [run["way"] for run in results] == ["8 pairs", "2 pairs", *sweep.WAYS]
    for run in results:
        assert run.keys() == of(RECORD["results"], way=run["way"])[0].keys()
        assert 4 < run["after"] < 12


@pytest.mark.parametrize("way", ["mean", "first", "random"])
def test_a_model_that_shares_has_the_numbers_of_the_trained_one(sweep, way):
    model = sweep.make_model(20, 8)
    given, made = model.state_dict(), sweep.shared(model, way).state_dict()
    for name, numbers in made.items():
        if ".key_proj." not in name and ".value_proj." not in name:
            assert torch.equal(numbers, given[name]), name
        elif name.endswith("weight") and way == "mean":
            torch.testing.assert_close(numbers, pool(given[name], 8, 2))
        elif way == "first":
            assert torch.equal(numbers.chunk(2)[1], given[name].chunk(8)[4]), name
        else:
            assert numbers.shape[0] == given[name].shape[0] // 4
