from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("translator")
    assert record["settings"] == sweep.SETTINGS
    assert list(record["models"]) == [str(steps) for steps in sweep.SETTINGS["recorded_at"]]


def test_the_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"d_model": 8, "n_heads": 2, "batch": 4, "steps": 4, "recorded_at": [2, 4], "test_sentences": 4}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    found, record = sweep.run(), recorded.load("translator")
    assert found.keys() == record.keys() - {"machine", "date"}
    assert list(found["models"]) == ["2", "4"]
    for steps, model in found["models"].items():
        assert model.keys() == record["models"]["100"].keys()
        assert model["exact"] == 0 and model["loss"] > 4, steps  # nothing is learned in four steps
