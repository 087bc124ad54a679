import ast
from functools import partial

import nbformat
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import compare_interpretations, interpret, recorded, setup, tasks, training
from attention_course.tasks.coins import VOCABULARY
from attention_course.transformer import Encoder


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("interpretability")
    models = {name: list(model) for name, model in sweep.MODELS.items()}
    assert record["settings"] == sweep.SETTINGS | {"models": models, "seeds": sweep.SEEDS}
    made = {(run["model"], run["seed"]) for run in record["results"]}
    assert made == {(model, seed) for model in sweep.MODELS for seed in sweep.SEEDS}
    assert {(model["model"], model["seed"]) for model in record["models"]} == made
    methods = list(record["examples"]["same"]["scores"])
    assert [run["method"] for run in record["results"]] == methods * len(made)


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "batch": 4, "test_examples": 20})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    fewer_steps = partial(interpret.integrated_gradients, steps=4)
    monkeypatch.setattr(compare_interpretations, "integrated_gradients", fewer_steps)
    monkeypatch.setattr(sweep, "STEPS", [2])
    monkeypatch.setattr(sweep, "EXAMPLE", ("two blocks", 0))
    made, record = sweep.run(), recorded.load("interpretability")
    assert [run.keys() for run in made["results"]] == [record["results"][0].keys()] * 33
    recorded_keys = {key.replace("gap_32", "gap_2") for key in record["models"][0]} - {"gap_1000"}
    assert [model.keys() for model in made["models"]] == [recorded_keys] * 3
    assert made["examples"].keys() == record["examples"].keys() == {"same", "different"}
    assert all(0 <= run["found"] <= 1 for run in made["results"])
    assert all(model["accuracy"] < 0.9 for model in made["models"])


def test_in_one_block_only_the_questions_row_counts_and_a_norm_hides_the_size_of_words(sweep):
    torch.manual_seed(0)
    one, two = sweep.Judge(1), sweep.Judge(2)
    with torch.no_grad():
        # Answers on both sides of 0, and coins that matter.
        one.readout.bias -= one(sweep._test_drawers().tokens)[0].median()
        two.readout.bias -= two(sweep._test_drawers().tokens)[0].median()
    described = sweep.describe(one)
    assert described["others_blind"] == described["accuracy"]
    assert described["gradient_along_coin"] < 1e-3 < sweep.describe(two)["gradient_along_coin"]


def test_a_mask_for_each_block_is_the_models_own_where_all_are_equal_and_only_the_blocks_where_they_differ(sweep):
    torch.manual_seed(0)
    model, drawers = sweep.Judge(2), sweep._test_drawers()
    hidden = ~drawers.gold[:, None, None, :]
    open_ = torch.ones_like(hidden)
    both = sweep.masked(model, drawers.tokens, [hidden, hidden])
    torch.testing.assert_close(both, model(drawers.tokens, ~drawers.gold)[0])
    first = sweep.masked(model, drawers.tokens, [hidden, open_])
    states, _ = model.encoder.blocks[0](model.embedding(drawers.tokens), hidden)
    states, _ = model.encoder.blocks[1](states)
    torch.testing.assert_close(first, model.readout(model.encoder.norm(states)[:, -1])[:, 0])
    assert (first - both).abs().max() > 1e-3


def test_what_a_model_does_is_described_from_its_answers(sweep):
    """A judge whose last block is a stub: it says the same wherever it finds two crowns, and different elsewhere."""

    class Stub(sweep.Judge):
        def read(self, x, mask=None):
            _, maps = super().read(x, mask)
            crowns = (x == self.embedding.weight[0]).all(-1).float()
            if mask is not None:
                crowns = crowns * mask.flatten(1)
            return crowns.sum(1) - 1.5 + 0 * x.sum((1, 2)), maps

    torch.manual_seed(0)
    model, drawers = Stub(1), sweep._test_drawers()
    described = sweep.describe(model)
    n_crowns = (drawers.tokens == 0).sum(1)
    assert described["accuracy"] == round(((n_crowns == 2) == drawers.same).float().mean().item(), 4)
    assert described["same_without_coins"] == 0 and described["things_that_turn_it"] == 0
    # Of two crowns each matters, of a crown and a ship only the ship, of two ships none.
    few = n_crowns[:100]
    assert described["coins_that_turn_nothing"] == ((few == 1) + 2 * (few == 0)).sum().item()


def test_a_fine_keeps_the_question_from_looking_at_coins(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 40})
    drawers = tasks.two_coins(100, torch.Generator().manual_seed(5))
    looks = []
    for name in ("two blocks", "fined"):
        _, maps = sweep.train(name, 0)(drawers.tokens)
        looks.append(sum((weights[:, :, -1] * drawers.gold[:, None]).sum(-1).mean().item() for weights in maps))
    assert looks[1] < 0.5 * looks[0]


def test_the_baseline_is_the_average_thing_and_keeps_the_question(sweep):
    model = sweep.Judge(1)
    drawers = tasks.two_coins(3, torch.Generator().manual_seed(0))
    baseline = sweep.average_thing(model, drawers.tokens)
    torch.testing.assert_close(baseline[1, 4], model.embedding.weight[2:22].mean(0))
    assert torch.equal(baseline[:, -1], model.embedding.weight[-1].expand(3, -1))


def test_the_chapter_trains_the_model_that_was_recorded(sweep, request, monkeypatch):
    """Its class and its training, run for a few steps, end where the sweep's do."""
    chapter = nbformat.read(request.config.rootpath / "chapters" / "interpretability.ipynb", as_version=4)
    names = {"nn": nn, "torch": torch, "F": F, "Encoder": Encoder, "VOCABULARY": VOCABULARY, "tasks": tasks}
    names |= {"training": training, "course": setup()}
    for name in ("class Judge", "def train"):
        (cell,) = (cell for cell in chapter.cells if cell.cell_type == "code" and name in cell.source)
        definition = ast.parse(cell.source.replace("steps=300", "steps=5")).body[0]
        exec(compile(ast.Module([definition], type_ignores=[]), "chapter", "exec"), names)
    assert "steps=300, peak_lr=0.01" in "".join(cell.source for cell in chapter.cells)
    assert (sweep.SETTINGS["steps"], sweep.SETTINGS["peak_lr"]) == (300, 0.01)
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 5})
    for name, arguments in {"one block": (1,), "two blocks": (2,), "fined": (2, 1.0)}.items():
        drawers = tasks.two_coins(4, torch.Generator().manual_seed(9))
        here, there = names["train"](*arguments), sweep.train(name, 0)
        tokens = drawers.tokens.to(names["course"].device)
        torch.testing.assert_close(here(tokens)[0].cpu(), there(drawers.tokens)[0], atol=1e-3, rtol=1e-3)


def test_the_examples_are_a_drawer_of_equal_coins_and_one_of_different_coins():
    for name, example in recorded.load("interpretability")["examples"].items():
        coins = {word for word, decides in zip(example["words"], example["gold"], strict=True) if decides}
        assert len(coins) == {"same": 1, "different": 2}[name]


def test_gaps_are_what_the_sums_of_integrated_gradients_miss(sweep, monkeypatch):
    """For the cube of a sum, whose slope in the middle of the way is known."""
    torch.manual_seed(0)
    model = sweep.Judge(1)
    monkeypatch.setattr(sweep, "STEPS", [1, 400])
    monkeypatch.setattr(model, "read", lambda x, mask=None: (x[:, :-1].sum((1, 2)) ** 3, None))
    described = sweep.baseline_and_gaps(model)
    drawers = sweep._test_drawers()[:50]
    x, baseline = model.embedding(drawers.tokens).detach(), sweep.average_thing(model, drawers.tokens)
    end, start = x[:, :-1].sum((1, 2)), baseline[:, :-1].sum((1, 2))
    missed = (3 * ((end + start) / 2) ** 2 * (end - start) - (end**3 - start**3)).abs().mean()
    assert described["gap_1"] == pytest.approx((missed / (end**3 - start**3).abs().mean()).item(), rel=1e-3)
    assert described["gap_400"] < 1e-4 < described["gap_1"]
    assert described["baseline"] == pytest.approx((start**3).mean().item(), abs=0.015)
