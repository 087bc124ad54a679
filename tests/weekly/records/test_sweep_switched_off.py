import pytest

from attention_course import recorded, tasks
from attention_course.checkpoints import load_character_model


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("switched_off")
    assert record["settings"] == sweep.SETTINGS
    for model in record["models"].values():
        assert {name: model[name] for name in sweep.SETTINGS} == sweep.SETTINGS


def test_the_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    if tasks.python_help().vocabulary != load_character_model("causal")[1]:
        pytest.skip("this Python's help pages are others")
    monkeypatch.setattr(sweep, "SETTINGS", {"length": 8, "n_pieces": 2})
    models = sweep.run()["models"]
    record = recorded.load("switched_off")["models"]
    assert models.keys() == record.keys()
    for name, model in models.items():
        assert model.keys() == record[name].keys()
