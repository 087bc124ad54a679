from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("bottleneck_lengths")
    assert record["settings"] == {name: settings | sweep.COMMON for name, settings in sweep.LENGTHS.items()}
    made = {(result["experiment"], result["attention"], result["seed"]) for result in record["results"]}
    assert made == {(name, a, seed) for name in sweep.LENGTHS for a in sweep.ATTENTIONS for seed in sweep.SEEDS}


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"task": "copying", "n_symbols": 4, "train_lengths": [2, 3], "test_lengths": [2, 4], "steps": 2}
    monkeypatch.setattr(sweep, "LENGTHS", {"small": small})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result["attention"] for result in results] == sweep.ATTENTIONS
    form = recorded.load("bottleneck_lengths")["results"][-1].keys()
    for result in results:
        assert result.keys() == form
        assert len(result["symbols"]) == len(result["sequences"]) == 2
        assert len(result["alignment_error"]) == (0 if result["attention"] is None else 2)
