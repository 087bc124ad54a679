from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("language_model")
    assert record["settings"] == sweep.SETTINGS | {"steps": sweep.STEPS}
    made = [(result["steps"], result["seed"]) for result in record["results"]]
    assert made == [(steps, seed) for steps in sweep.STEPS for seed in sweep.SEEDS]


def test_the_goal_was_met():
    """At most 1.85 bits a character after at most 60 seconds on two cores, with every seed."""
    record = recorded.load("language_model")
    longest = [result for result in record["results"] if result["steps"] == record["settings"]["steps"][-1]]
    assert max(result["bits"] for result in longest) <= 1.85
    assert max(result["seconds"] for result in longest) <= 60


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"d_model": 8, "window": 16, "batch": 4})
    monkeypatch.setattr(sweep, "STEPS", [2, 3])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result["steps"] for result in results] == [2, 3]
    form = recorded.load("language_model")["results"][-1].keys()
    for result in results:
        assert result.keys() == form
        # Nothing is learned in three steps: near the logarithm of the number of symbols.
        assert 5 < result["bits"] < 9
