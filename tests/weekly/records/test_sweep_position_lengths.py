import torch
import torch.nn.functional as F

from attention_course import recorded, tasks


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("position_lengths")
    assert record["settings"] == sweep.SETTINGS | {"peak_lrs": sweep.PEAK_LRS, "seeds": sweep.SEEDS}
    made = {(run["method"], run["start_symbol"], run["distance"]) for run in record["results"]}
    assert made == (
        {(method, True, 4) for method in sweep.METHODS}
        | {(method, False, 4) for method in sweep.WITHOUT_START}
        | {(method, False, distance) for method, others in sweep.OTHER_DISTANCES.items() for distance in others}
    )


def test_every_method_has_every_rate_and_more_seeds_at_the_one_that_fits_best(sweep):
    results = recorded.load("position_lengths")["results"]
    for method, start_symbol in {(run["method"], run["start_symbol"]) for run in results}:
        runs = [
            run for run in results if (run["method"], run["start_symbol"], run["distance"]) == (method, start_symbol, 4)
        ]
        first = [run for run in runs if run["seed"] == sweep.SEEDS[0]]
        higher = [] if start_symbol else sweep.HIGHER_LRS.get(method, [])
        assert [run["peak_lr"] for run in first] == sweep.PEAK_LRS + higher
        best = min(first, key=lambda run: run["loss"])["peak_lr"]
        assert [run["seed"] for run in runs if run["peak_lr"] == best] == sweep.SEEDS


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"train_length": 8, "test_length": 16, "steps": 2, "test_examples": 50, "distance": 3}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "PEAK_LRS", [0.001])
    results = sweep.run()["results"]
    assert {result["method"] for result in results} == set(sweep.METHODS)
    assert {result["distance"] for result in results if not result["start_symbol"]} == {3, 1, 2}
    assert {result["peak_lr"] for result in results if result["method"] == "alibi"} == {0.001, 0.02, 0.03}
    form = recorded.load("position_lengths")["results"][-1].keys()
    for result in results:
        assert result.keys() == form
        assert len(result["accuracy"]) == 2 and all(0 <= share <= 1 for share in result["accuracy"])


def test_a_model_that_looks_back_scores_1_everywhere_and_one_that_repeats_scores_chance(sweep):
    """The scoring, on answers that are known beforehand."""

    def make(n_examples, length, generator):
        return tasks.looking_back(n_examples, length, 16, 4, generator)

    def looks_back(symbols, mask=None):
        return F.one_hot(symbols.roll(4, dims=1), 17).float(), None

    def repeats(symbols, mask=None):
        return F.one_hot(symbols, 17).float(), None

    assert sweep.score(looks_back, make)["accuracy"] == [1.0] * 32
    chance = torch.tensor(sweep.score(repeats, make)["accuracy"])
    assert abs(chance.mean() - 1 / 16) < 0.01


def test_random_starts_reach_every_tested_position_in_training_and_none_but_the_given_one_after(sweep):
    seen = set()

    class Recorder(torch.nn.Module):
        def forward(self, tokens, start=0):
            seen.update(range(start, start + tokens.size(1)))
            return tokens

    positions = sweep.RandomStart(Recorder(), 20)
    torch.manual_seed(0)
    for _ in range(500):
        positions(torch.zeros(1, 4, 2))
    assert seen == set(range(20))
    seen.clear()
    positions.eval()(torch.zeros(1, 4, 2), 3)
    assert seen == {3, 4, 5, 6}
