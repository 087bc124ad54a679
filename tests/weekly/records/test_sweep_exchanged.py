import pytest
import torch

from attention_course import recorded

RECORD = recorded.load("exchanged")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    made = [{name: value for name, value in run.items() if name != "bits"} for run in RECORD["results"]]
    described = [what for what, _ in sweep.substitutes()]
    assert made == [what | {"seed": seed, "text": n} for seed in sweep.SEEDS for what in described for n in sweep.TEXTS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"window": 32, "batch": 2, "steps": 2, "every": 500})
    monkeypatch.setattr(sweep, "TEXTS", [32])
    monkeypatch.setattr(sweep, "WINDOWS", [8, 64])
    monkeypatch.setattr(sweep, "FEATURES", [16])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [tuple(run) for run in results[:2]] == [("mechanism", "seed", "text", "bits")] * 2
    exact = results[0]["bits"]
    for run in results:
        assert 4 < run["bits"] < 9  # nothing is learned in two steps
        if run.get("budget") == 64 and run["mechanism"] == "window":  # sees all of so short a text
            assert run["bits"] == pytest.approx(exact, abs=1e-3)


def test_a_window_as_long_as_the_text_costs_nothing():
    exact = {(run["seed"], run["text"]): run["bits"] for run in RECORD["results"] if run["mechanism"] == "exact"}
    for run in RECORD["results"]:
        if run["mechanism"] == "window" and run["budget"] >= run["text"]:
            assert run["bits"] == pytest.approx(exact[run["seed"], run["text"]], abs=1e-3)


def test_bits_count_second_halves_only(sweep):
    class Sure(torch.nn.Module):
        """Knows the second half of a piece, and nothing of the first."""

        def forward(self, symbols):
            logits = torch.zeros(*symbols.shape, 3)
            logits[:, symbols.size(1) // 2 :, 1] = 100.0
            return logits, None

    symbols = torch.ones(5000, dtype=torch.long)
    assert sweep.bits(Sure(), symbols, 16) == pytest.approx(0, abs=1e-5)
