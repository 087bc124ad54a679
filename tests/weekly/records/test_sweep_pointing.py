import torch

from attention_course import recorded, tasks


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("pointing")
    assert record["settings"] == sweep.SETTINGS
    assert [(result["model"], result["seed"]) for result in record["results"]] == [
        (model, seed) for model in sweep.MODELS for seed in sweep.SEEDS
    ]


def test_the_kept_series_is_what_its_name_says():
    example = recorded.load("pointing")["example"]
    gold = torch.tensor(example["gold"]).unflatten(0, (16, 8)).any(-1)
    hits = {name: gold[torch.tensor(example[name]).argmax()].item() for name in example if len(example[name]) == 16}
    assert hits == {"no block": True, "block": False, "traced": True, "rollout": True}


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 4, "test_series": 40})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    made, record = sweep.run(), recorded.load("pointing")
    first_of = {result["model"]: result for result in reversed(record["results"])}
    assert {result["model"]: result.keys() for result in made["results"]} == {
        model: result.keys() for model, result in first_of.items()
    }
    assert made["example"].keys() == record["example"].keys()
    mean = made["results"][0]
    assert mean["share"] == mean["chance"]  # an even split points nowhere


def test_tokens_of_a_block_that_reads_nobody_do_not_hear_of_each_other(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 4})
    model = sweep.train(1, "attention", False, seed=0).eval()
    series = tasks.anomalous_series(3, torch.Generator().manual_seed(0)).series
    tokens = model.positions(model.embed(series))
    changed = tokens.clone()
    changed[:, 5] += 1
    encoded, weights = model.encoder(tokens, need_weights=True)
    other, _ = model.encoder(changed)
    others = torch.arange(16) != 5
    assert torch.equal(encoded[:, others], other[:, others]) and not torch.equal(encoded[:, 5], other[:, 5])
    assert torch.equal(weights[0][0, 0], torch.eye(16))


def test_taking_away_touches_one_token_only(sweep):
    series = torch.randn(3, 128, generator=torch.Generator().manual_seed(0))
    assert sweep.without(2, 3).sum(1).tolist() == [15] * 3 and not sweep.without(2, 3)[:, 2].any()
    for taken in (sweep.blank(series, 2), sweep.swapped(series, 2)):
        assert (taken != series).any(0).nonzero()[:, 0].tolist() == list(range(16, 24))
    assert torch.equal(sweep.swapped(series, 2)[1, 16:24], series[0, 16:24])
