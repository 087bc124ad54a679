from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("scale_adam")
    assert record["settings"] == sweep.COMMON | {"seeds": sweep.SEEDS}
    made = [(result["scaled"], result["rate"]) for result in record["results"]]
    assert made == [(scaled, rate) for scaled in (True, False) for rate in sweep.RATES]
    assert all(len(result["accuracy"]) == len(sweep.SEEDS) for result in record["results"])


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"width": 16, "steps": 2})
    monkeypatch.setattr(sweep, "RATES", [0.001])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result.keys() for result in results] == [recorded.load("scale_adam")["results"][0].keys()] * 2
    assert all(0 <= result["accuracy"][0] <= 1 for result in results)
