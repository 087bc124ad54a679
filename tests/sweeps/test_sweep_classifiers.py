import pytest
import torch

from attention_course import recorded, tasks


def results_of(experiment):
    return [result for result in recorded.load("classifiers")["results"] if result["experiment"] == experiment]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    settings = recorded.load("classifiers")["settings"]
    assert settings == {
        "reviews": sweep.REVIEWS,
        "digits": sweep.DIGITS | {"live": list(sweep.LIVE), "long": list(sweep.LONG)},
    }
    made = [(result["pooling"], result["masked"], result["seed"]) for result in results_of("reviews")]
    assert made == [(*model, seed) for model in sweep.REVIEW_MODELS for seed in sweep.SEEDS]
    made = [(tuple(result["sizes"]), result["seed"]) for result in results_of("configurations")]
    assert made == [(sizes, seed) for sizes in sweep.CONFIGURATIONS for seed in sweep.SEEDS]
    made = [(tuple(result["sizes"]), result["shifted"], result["seed"]) for result in results_of("long")]
    assert made == [(sweep.LONG, shifted, seed) for shifted in (True, False) for seed in sweep.SEEDS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"n_train": 20, "batch": 4, "steps": 2, "test_examples": 30, "pads": [0, 3]}
    monkeypatch.setattr(sweep, "REVIEWS", sweep.REVIEWS | small)
    monkeypatch.setattr(sweep, "DIGITS", sweep.DIGITS | {"batch": 4, "long_steps": 2, "short_steps": 2})
    monkeypatch.setattr(sweep, "CONFIGURATIONS", [(8, 2, 1)])
    monkeypatch.setattr(sweep, "LONG", (8, 1, 1))
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    for experiment, count in (("reviews", 4), ("long", 2), ("configurations", 1)):
        made = [result for result in results if result["experiment"] == experiment]
        assert len(made) == count
        assert {tuple(result) for result in made} == {tuple(results_of(experiment)[0])}
    for result in results[:4]:
        assert len(result["no mask"]) == len(result["pooling not masked"]) == 2
        # Without pads a mask has nothing to hide.
        assert result["no mask"][0] == pytest.approx(result["with mask"], abs=0.04)


def test_a_shifted_image_keeps_its_ink_but_at_the_border(sweep):
    images = tasks.handwritten_digits()[0].images[:200]
    shifted = sweep._shift(images, torch.Generator().manual_seed(0))
    assert shifted.shape == images.shape and not torch.equal(shifted, images)
    assert (shifted.sum((1, 2)) / images.sum((1, 2))).sub(1).abs().mean() < 0.1
    # Half a pixel up or down: the centre of the ink moves by no more.
    rows = torch.arange(8.0)
    centre = [(pixels.sum(2) @ rows) / pixels.sum((1, 2)) for pixels in (images, shifted)]
    assert (centre[0] - centre[1]).abs().max() < 0.7
    assert (centre[0] - centre[1]).abs().mean() > 0.1
