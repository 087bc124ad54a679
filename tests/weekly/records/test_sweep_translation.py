import torch

from attention_course import recorded
from attention_course.tasks import translation


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("translation")
    assert record["settings"] == sweep.SETTINGS
    plans = {(model, rate, False) for model in sweep.MODELS for rate in sweep.PEAK_LRS}
    plans |= {(model, rate, True) for model, rate in sweep.WITHHELD.items()}
    made = [(run["model"], run["peak_lr"], run["withheld"], run["seed"]) for run in record["results"]]
    assert len(made) == len(set(made))
    assert set(made) == {(*plan, seed) for plan in plans for seed in sweep.SEEDS}


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "test_sentences": 4, "d_hidden": 8})
    monkeypatch.setattr(sweep, "PEAK_LRS", [0.003])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result["model"] for result in results] == [*sweep.MODELS, *sweep.WITHHELD]
    form = recorded.load("translation")["results"][0].keys()
    layers = {"Transformer": 2, "no attention": 0}
    for result in results:
        assert result.keys() == form
        assert len(result["alignment_error"]) == layers.get(result["model"], 1)


def test_a_withheld_pair_is_an_adjective_with_its_noun_in_one_phrase(sweep):
    def withheld(sentence):
        return sweep.has_withheld_pair(translation.from_text(sentence)).item()

    # The first noun goes without the first size and the first colour.
    assert withheld("the small cat sees a dog.") and withheld("a dog sees the black cats.")
    assert withheld("the small white cat sees a dog.") and withheld("the big black cat sees a dog.")
    assert not withheld("the cat sees a small black dog.")
    assert not withheld("the small dog sees a cat.") and not withheld("the big white cat sees a dog.")


def test_sentences_are_all_of_the_kind_that_was_asked_for(sweep):
    for kind in (True, False):
        pairs = sweep.sentences(50, torch.Generator().manual_seed(0), withheld=kind)
        assert len(pairs) == 50
        assert sweep.has_withheld_pair(pairs.source).tolist() == [kind] * 50
