import torch

from attention_course import recorded

RECORD = recorded.load("many_pairs")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    for name in sweep.SETTINGS["mechanisms"]:
        runs = [run for run in RECORD["results"] if run["mechanism"] == name]
        first = [run for run in runs if run["seed"] == 0]
        assert [run["peak_lr"] for run in first] == sweep.SETTINGS["peak_lrs"]
        best = max(first, key=lambda run: run["right"])["peak_lr"]
        assert sorted(run["seed"] for run in runs if run["peak_lr"] == best) == sweep.SETTINGS["seeds"]
        assert len(runs) == len(first) + 2
    assert len(RECORD["results"]) == 5 * len(sweep.SETTINGS["mechanisms"])


def test_a_run_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"n_pairs": 4, "steps": 2})
    small = sweep.states.SETTINGS["recall"] | {"questions": 16, "test_questions": 80}
    monkeypatch.setattr(sweep.states, "SETTINGS", sweep.states.SETTINGS | {"recall": small})
    for name in sweep.SETTINGS["mechanisms"]:
        result = sweep.one_run(name, 0.01, 0)
        assert result.keys() == RECORD["results"][0].keys() and 0 <= result["right"] <= 1


def test_the_delta_rule_begins_with_a_small_strength(sweep):
    bias = sweep.make_layer("delta").strength_proj.bias
    assert torch.equal(bias, torch.full_like(bias, -3.0))
    assert not torch.equal(sweep.states.make_layer("delta").strength_proj.bias, bias)
