import torch

from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("first_symbol")
    assert record["settings"] == sweep.SETTINGS | {"seeds": sweep.SEEDS}
    made = [(result["model"], result["steps"], result["seed"]) for result in record["results"]]
    assert made == [(*model, seed) for model in sweep.MODELS for seed in sweep.SEEDS]
    scores = [result[name] for result in record["results"] for name in ("accuracy", "bits", "moved")]
    assert all(len(score) == len(sweep.SETTINGS["places"]) for score in scores)


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"places": [2, 4], "batch": 4, "test_pairs": 5})
    monkeypatch.setattr(sweep, "MODELS", [("transformer", 2), ("gru", 2)])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result.keys() for result in results] == [recorded.load("first_symbol")["results"][0].keys()] * 2
    assert all(len(result["bits"]) == 2 for result in results)


def test_the_answer_is_the_first_bit_at_every_place(sweep):
    bits, first = sweep.texts(20, 9, torch.Generator().manual_seed(0))
    assert first.tolist() == [[row[0]] * 9 for row in bits.tolist()]


def test_one_that_knows_is_right_everywhere_and_one_that_guesses_pays_a_bit(sweep):
    class Knows(torch.nn.Module):
        def forward(self, bits):
            return 100.0 * torch.nn.functional.one_hot(bits[:, :1].expand_as(bits), 2)

    class Guesses(torch.nn.Module):
        def forward(self, bits):
            return torch.zeros(*bits.shape, 2)

    ones, zeros = ([float(number)] * len(sweep.SETTINGS["places"]) for number in (1, 0))
    assert sweep.test(Knows()) == {"accuracy": ones, "bits": zeros, "moved": ones}
    guessed = sweep.test(Guesses())
    assert (guessed["bits"], guessed["moved"]) == (ones, zeros)
