from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    models = recorded.load("character_model")["models"]
    assert {name: model["settings"] for name, model in models.items()} == sweep.SETTINGS


def test_the_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"d_model": 8, "window": 16, "batch": 4, "steps": 2}
    monkeypatch.setattr(sweep, "SETTINGS", {name: settings | small for name, settings in sweep.SETTINGS.items()})
    models = sweep.run()["models"]
    record = recorded.load("character_model")["models"]
    assert models.keys() == record.keys()
    for name, model in models.items():
        assert model.keys() == record[name].keys()
        assert 5 < model["bits"] < 9  # nothing is learned in two steps
