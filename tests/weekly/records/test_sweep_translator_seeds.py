import torch

from attention_course import checkpoints, recorded
from attention_course.decoding import beam_search, cut_after
from attention_course.tasks import translation


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("translator_seeds")
    assert record["settings"] == sweep.SETTINGS
    assert [result["seed"] for result in record["results"]] == sweep.SETTINGS["seeds"]


def test_the_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"d_model": 8, "n_heads": 2, "batch": 4, "steps": 10, "searched_at": [5, 10], "followed_until": 5}
    small |= {"test_sentences": 4, "widths": [1, 2], "searched_whole": 2, "seeds": [0]}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    (result,) = sweep.run()["results"]
    record = recorded.load("translator_seeds")["results"][0]
    assert result.keys() == record.keys()
    for part in ("learned", "weights", "patched"):
        assert result[part].keys() == record[part].keys()
    assert list(result["search"]) == list(result["likeliest"]) == ["5", "10"]
    assert result["search"]["5"][1].keys() == record["search"]["100"][1].keys()
    assert result["likeliest"]["5"].keys() == record["likeliest"]["100"].keys()


def test_nothing_is_likelier_than_the_likeliest(sweep):
    """Than what a beam of 32 finds, and than a period; and its score is that of the sentence."""
    model = checkpoints.load_translator(100)
    source = translation.from_text("a green dog never draws my old red horses.")
    beams, scores = beam_search(model, source, 13, width=32, end=translation.END, pad=translation.PAD)
    start = torch.tensor([translation.IDS["un"], translation.END] + 11 * [translation.PAD])
    best, log_p = sweep.likeliest(model, source[0], start, -12.0)
    assert log_p >= scores[0].max().item() - 1e-4
    assert best.tolist()[0] == translation.END
    assert torch.equal(cut_after(best, translation.END, translation.PAD), best)


def test_a_token_of_the_memory_can_be_exchanged_in_one_layer_alone(sweep):
    """What the recorded translator does: its article depends on the noun as the first layer of the decoder reads it."""
    found = sweep.patch_results(checkpoints.load_translator())
    assert found["article"]["noun, both"] > 0.9 and found["article"]["noun, layer 1"] > 0.9
    assert found["article"]["noun, layer 2"] < 0.1 and found["article"]["none"] == 0
    assert found["ne"]["verb, both"] > 0.9 and found["ne"]["all but the verb, both"] < 0.1
