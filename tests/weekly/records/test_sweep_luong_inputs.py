import torch

from attention_course import recorded
from attention_course.recurrent import GRUEncoderDecoder


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("luong_inputs")
    assert record["settings"] == sweep.SETTINGS
    made = [(result["extra"], result["seed"]) for result in record["results"]]
    assert made == [(extra, seed) for extra in sweep.EXTRAS for seed in sweep.SEEDS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"n_symbols": 4, "d_hidden": 8, "train_lengths": [2, 3], "test_lengths": [2, 4], "steps": 2}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [result["extra"] for result in results] == sweep.EXTRAS
    for result in results:
        assert result.keys() == recorded.load("luong_inputs")["results"][0].keys()
        assert len(result["symbols"]) == 2 and all(0 <= share <= 1 for share in result["symbols"])


def test_without_what_is_added_the_decoder_is_the_packages(sweep):
    torch.manual_seed(0)
    mine, theirs = sweep.LuongWriter(9, 8, "concat", "summary"), GRUEncoderDecoder(9, 8, "concat")
    with torch.no_grad():
        weights = {
            name.removesuffix("_l0") if name.startswith("decoder") else name: value
            for name, value in theirs.state_dict().items()
        }
        # Zeros where the extra vector enters.
        weights["decoder.weight_ih"] = torch.cat([weights["decoder.weight_ih"], torch.zeros(24, 8)], 1)
        mine.load_state_dict(weights)
        source, target = torch.randint(9, (2, 4, 6))
        for ours, expected in zip(mine(source, target), theirs(source, target), strict=True):
            torch.testing.assert_close(ours, expected)
