import re

import nbformat
import pytest
import torch
from torch import nn

from attention_course import MultiHeadAttention, recorded, tasks


def settings_of(sweep):
    """What each recorded run was made with, in the order of the script."""
    return [
        (experiment, *((sweep.COMMON | changes)[name] for name in sweep.VARIED), seed)
        for experiment, models in sweep.EXPERIMENTS.items()
        for changes in models
        for seed in sweep.SEEDS
    ]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("head_counts")
    assert record["settings"] == sweep.COMMON
    made = [
        (result["experiment"], *(result[name] for name in sweep.VARIED), result["seed"]) for result in record["results"]
    ]
    assert made == settings_of(sweep)


def test_the_number_of_heads_changes_no_count_of_parameters():
    results = [result for result in recorded.load("head_counts")["results"] if result["experiment"] == "heads"]
    for n_relations in (1, 2, 4):
        assert len({result["parameters"] for result in results if result["n_relations"] == n_relations}) == 1


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"one": [{"n_heads": 2}, {"d_hidden": 8, "n_relations": 3}]}
    monkeypatch.setattr(sweep, "EXPERIMENTS", small)
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"steps": 2, "batch": 4, "test_examples": 10})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    form = recorded.load("head_counts")["results"][0].keys()
    assert [result.keys() for result in results] == [form, form]
    assert [len(result["relations"]) for result in results] == [2, 3]


@pytest.mark.parametrize("n_relations", [1, 2])
@pytest.mark.parametrize("chapter", ["multi_head", "one_head"])
def test_the_lesson_and_its_further_page_train_the_model_that_was_recorded(sweep, chapter, n_relations, request):
    notebook = nbformat.read(request.config.rootpath / "chapters" / f"{chapter}.ipynb", as_version=4)
    names = {"nn": nn, "torch": torch, "MultiHeadAttention": MultiHeadAttention}
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.match("(# @title .*\n)?(class |def split)", cell.source):
            exec(cell.source, names)
    people = tasks.related_letters(3, 8, 16, 8, n_relations, torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    printed, _ = names["Reader"](4, n_relations)(people)
    torch.manual_seed(0)
    assert torch.allclose(printed, sweep.Reader(4, n_relations)(people), atol=1e-6)
