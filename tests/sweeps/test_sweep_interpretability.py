import ast

import nbformat
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import recorded, setup, tasks, training
from attention_course.tasks.coins import VOCABULARY
from attention_course.transformer import Encoder


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("interpretability")
    models = {name: list(model) for name, model in sweep.MODELS.items()}
    assert record["settings"] == sweep.SETTINGS | {"models": models, "seeds": sweep.SEEDS}
    made = {(run["model"], run["seed"]) for run in record["results"]}
    assert made == {(model, seed) for model in sweep.MODELS for seed in sweep.SEEDS}
    methods = list(record["example"]["scores"])
    assert [run["method"] for run in record["results"]] == methods * len(made)


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "batch": 4, "test_examples": 20})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    made, record = sweep.run(), recorded.load("interpretability")
    assert [run.keys() for run in made["results"]] == [record["results"][0].keys()] * 30
    assert made["example"].keys() == record["example"].keys()
    assert all(0 <= run["found"] <= 1 and run["accuracy"] < 0.9 for run in made["results"])


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
