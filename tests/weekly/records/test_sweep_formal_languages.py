import torch

from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("formal_languages")
    assert record["settings"] == sweep.SETTINGS | {"seeds": sweep.SEEDS}
    names = ("task", "model", "blocks", "rotary", "steps", "seed")
    made = [tuple(run[name] for name in names) for run in record["results"]]
    assert made == [(*model, seed) for model in sweep.MODELS for seed in sweep.SEEDS]
    windows = sweep.SETTINGS["test_length"] // sweep.SETTINGS["window"]
    assert all(len(run["accuracy"]) == len(run["bits"]) == windows for run in record["results"])


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"test_examples": 4, "batch": 2})
    monkeypatch.setattr(sweep, "MODELS", [(*model[:4], 3) for model in sweep.MODELS])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    record = recorded.load("formal_languages")
    made = sweep.run()["results"]
    assert [run.keys() for run in made] == [run.keys() for run in record["results"][::3]]
    # Nothing is learned in three steps: near one bit for two answers, and not far above it for three.
    assert all(0.5 < sum(run["bits"]) / len(run["bits"]) < 3 for run in made)


def test_parity_is_that_of_the_ones_so_far(sweep):
    bits, odd = sweep.parity(20, 12, torch.Generator().manual_seed(0))
    assert odd.tolist() == [[sum(row[: place + 1]) % 2 for place in range(12)] for row in bits.tolist()]


def test_brackets_are_well_nested_and_the_answer_is_the_innermost(sweep):
    symbols, answers = sweep.brackets(50, 20, torch.Generator().manual_seed(0))
    for text, asked in zip(symbols.tolist(), answers.tolist(), strict=True):
        left = ""
        for symbol, answer in zip(text, asked, strict=True):
            left = (left + "([)]"[symbol]).replace("()", "").replace("[]", "")
            assert set(left) <= set("([")
            assert answer == (0 if not left else 1 + "([".index(left[-1]))


def test_a_model_sees_nothing_of_what_comes_later(sweep):
    torch.manual_seed(0)
    text = torch.randint(2, (3, 10))
    changed = text.clone()
    changed[:, 6:] = 1 - changed[:, 6:]
    for model in (sweep.Transformer(2, 2, 2, True), sweep.Recurrent(2, 2)):
        assert torch.allclose(model(text)[:, :6], model(changed)[:, :6], atol=1e-6)


def test_moved_is_one_for_a_model_that_knows_parity_and_nothing_for_one_that_guesses(sweep):
    bits = torch.randint(2, (5, 8), generator=torch.Generator().manual_seed(0))
    knows = lambda read: 100.0 * torch.nn.functional.one_hot(read.cumsum(1) % 2, 2)  # noqa: E731
    assert sweep._moved(knows, bits) == [1.0, 1.0]
    assert sweep._moved(lambda read: torch.zeros(*read.shape, 2), bits) == [0.0, 0.0]
