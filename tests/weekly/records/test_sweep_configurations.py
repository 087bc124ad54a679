import pytest

from attention_course import recorded

RECORD = recorded.load("configurations")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS | {"seeds": sweep.SEEDS, "base": sweep.BASE}
    choices = [sweep.BASE | change for change in sweep.CHANGES]
    assert [{name: result[name] for name in sweep.BASE} for result in RECORD["results"]] == choices


def test_each_configuration_has_the_rate_that_was_best_on_digits_set_aside(sweep):
    for result in RECORD["results"]:
        best = result["tried"].index(max(result["tried"]))
        assert result["rates"] == sweep.rates_of(result)
        assert result["rate"] == result["rates"][best]
        assert result["validation"][0] == result["tried"][best]
        assert len(result["accuracy"]) == len(sweep.SEEDS)


@pytest.mark.parametrize("result", RECORD["results"], ids=str)
def test_the_parameters_are_those_of_a_model_of_that_size(sweep, result):
    width, layers = result["width"], result["layers"]
    patches, places, head = 5 * width, 16 * width, 10 * (width + 1)
    block = 12 * width**2 + 13 * width  # four projections, two layers of the feed-forward part, two norms
    assert result["parameters"] == patches + places + layers * block + 2 * width + head


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"batch": 4, "steps": 2, "repeats": 1})
    monkeypatch.setattr(sweep, "CHANGES", [{"width": 8}, {"width": 8, "optimiser": "SGD"}])
    monkeypatch.setattr(sweep, "SEEDS", [0, 1])
    results = sweep.run()["results"]
    assert len(results) == 2
    assert {tuple(result) for result in results} == {tuple(RECORD["results"][0])}
    assert all(len(result["accuracy"]) == 2 and result["latency_ms"] > 0 for result in results)
