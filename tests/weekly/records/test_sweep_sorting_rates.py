from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("sorting_rates")
    assert record["settings"] == sweep.SETTINGS
    made = [(result["attention"], result["rate"], result["seed"]) for result in record["results"]]
    attentions = [None, "additive", "general", "concat"]
    assert made == [(a, rate, seed) for a in attentions for rate in sweep.RATES for seed in sweep.SEEDS]


def test_its_settings_are_those_of_the_first_record_but_for_the_rate(sweep):
    first = recorded.load("bottleneck_lengths")["settings"]["sorting"]
    assert first | sweep.SETTINGS == first | {"test_lengths": [10]}
    assert first.keys() - sweep.SETTINGS.keys() == {"peak_lr"} and first["peak_lr"] not in sweep.RATES


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"n_symbols": 4, "d_hidden": 8, "train_lengths": [2, 3], "test_lengths": [4], "steps": 2}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "RATES", [0.01])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result["attention"] for result in results] == [None, "additive", "general", "concat"]
    for result in results:
        assert result.keys() == recorded.load("sorting_rates")["results"][0].keys()
        assert len(result["symbols"]) == 1 and 0 <= result["symbols"][0] <= 1
