import pytest
import torch

from attention_course import recorded, tasks
from attention_course.embeddings import ImagePatches


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("vision")
    lengths = {"short": sweep.SHORT, "long": sweep.LONG}
    assert record["settings"] == sweep.DIGITS | lengths | {"erased": sweep.ERASED, "draws": sweep.DRAWS}
    made = [(result["model"], result["seed"]) for result in record["results"]]
    models = [*sweep.VARIANTS, "convolutions", "convolutions, shuffled", *sweep.LONG_VARIANTS]
    assert made == [(model, seed) for model in models for seed in sweep.SEEDS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "DIGITS", sweep.DIGITS | {"batch": 4})
    monkeypatch.setattr(sweep, "SHORT", {"sizes": [8, 2, 1], "steps": 2})
    monkeypatch.setattr(sweep, "LONG", {"sizes": [8, 2, 1], "steps": 2})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    kept = [result for result in recorded.load("vision")["results"] if result["seed"] == 0]
    assert [(result["model"], set(result)) for result in results] == [(old["model"], set(old)) for old in kept]
    for result in results:
        assert 0 <= result["accuracy"] <= 1
        # What has no registers can put nothing on them.
        if result.get("on registers"):
            assert "registers" in result["model"]


def test_the_sweep_s_tokens_are_the_package_s_with_places(sweep):
    torch.manual_seed(0)
    images = tasks.handwritten_digits()[1].images[:5]
    embed, package = sweep.PictureTokens(6, n_registers=2), ImagePatches(2, 6)
    package.proj = embed.proj
    tokens = embed(images)
    assert tokens.shape == (5, 18, 6) and torch.equal(tokens[0, :2], embed.registers)
    place = tokens[:, 2:] - package(images)
    for number in range(16):
        expected = embed.row[number // 4] + embed.column[number % 4]
        torch.testing.assert_close(place[:, number], expected.expand(5, -1), atol=1e-5, rtol=1e-5)


def test_what_is_cut_can_be_glued(sweep):
    images = torch.rand(3, 8, 8)
    assert torch.equal(sweep.glue(sweep.cut(images)), images)


def test_erasing_as_pixels_leaves_the_other_patches_alone(sweep):
    _, test = tasks.handwritten_digits()
    seen = []

    def model(images, mask=None):
        seen.append((images, mask))
        return torch.zeros(len(images), 10), None

    keep = torch.ones(len(test), 16, dtype=torch.bool)
    keep[:, 5] = False
    sweep._without_pixels(model, test, keep, 0)
    sweep._without_tokens(model, test, keep, 3)
    (painted, _), (whole, mask) = seen
    assert torch.equal(whole, test.images) and mask.sum(1).eq(18).all() and not mask[:, 8].any()
    assert not painted[:, 2:4, 2:4].any()
    painted[:, 2:4, 2:4] = test.images[:, 2:4, 2:4]
    assert torch.equal(painted, test.images)


def test_the_convolutions_have_about_as_many_parameters(sweep):
    counts = {result["model"]: result["parameters"] for result in recorded.load("vision")["results"]}
    assert counts["convolutions"] == pytest.approx(counts["as on the page"], rel=0.15)
    assert sum(parameter.numel() for parameter in sweep.convolutions().parameters()) == counts["convolutions"]
