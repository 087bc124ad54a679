import torch

from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("tables")
    settings = {"n_sensors": sweep.N_SENSORS, "rows": sweep.ROWS, "test": [sweep.TEST_ROWS, sweep.TEST_SEED]}
    assert record["settings"] == sweep.SIZES | sweep.TRAINING | settings
    made = [(result["rows"], result["seed"], result["model"]) for result in record["results"]]
    models = ["attention", "no attention", "boosted trees", "logistic regression"]
    assert made == [(rows, seed, model) for rows in sweep.ROWS for seed in sweep.SEEDS for model in models]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "TRAINING", sweep.TRAINING | {"steps": 2, "batch": 4})
    monkeypatch.setattr(sweep, "ROWS", [40])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    monkeypatch.setattr(sweep, "TEST_ROWS", 50)
    results = sweep.run()["results"]
    kept = recorded.load("tables")["results"][:4]
    assert [(result["model"], list(result)) for result in results] == [(old["model"], list(old)) for old in kept]


def test_the_column_says_which_sensor_counts(sweep):
    x, answer = sweep.sensors(200, 3)
    assert x.shape == (200, 5) and sorted(x[:, 0].unique().tolist()) == [-1.5, -0.5, 0.5, 1.5]
    for row, right in zip(x, answer, strict=True):
        assert (row[1 + int(row[0] + 1.5)] > 0) == right.bool()
    assert torch.equal(sweep.sensors(200, 3)[0], x) and not torch.equal(sweep.sensors(200, 4)[0], x)


def test_without_attention_a_token_never_hears_of_another(sweep):
    x, y = sweep.sensors(20, 0)
    model = sweep._train(x, y, 0, with_attention=False)
    tokens = model.embed(x)
    encoded, _ = model.encoder(tokens)
    changed, _ = model.encoder(torch.cat([tokens[:, :4], tokens[:, 4:] + 1], dim=1))
    assert torch.equal(encoded[:, :4], changed[:, :4]) and not torch.equal(encoded[:, 4], changed[:, 4])
