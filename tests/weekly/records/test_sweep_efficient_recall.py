import ast

import nbformat
import torch
from torch import nn

from attention_course import MultiHeadAttention, recorded, tasks
from attention_course.efficient.linear import LinearAttention


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("efficient_recall")
    assert record["settings"] == sweep.COMMON
    models = [{"mechanism": name, "n_people": n} for name in sweep.MECHANISMS for n in sweep.N_PEOPLE]
    models += sweep.CHANCES + sweep.ONE_PROJECTION
    wanted = [
        {name: (sweep.COMMON | model)[name] for name in ("mechanism", "n_people", "d_model", "steps")} | {"seed": seed}
        for model in models
        for seed in sweep.SEEDS
    ]
    made = [{name: number for name, number in run.items() if name != "right"} for run in record["results"]]
    assert made == wanted


def test_exact_attention_recalls_in_every_crowd():
    """What the others lose is then theirs to lose: the task, the model and the training are good enough."""
    exact = [run["right"] for run in recorded.load("efficient_recall")["results"] if run["mechanism"] == "exact"]
    assert min(exact) > 0.98


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"steps": 2, "batch": 4, "test_examples": 10})
    monkeypatch.setattr(sweep, "N_PEOPLE", [5])
    monkeypatch.setattr(sweep, "CHANCES", [{"mechanism": "linear", "n_people": 5, "d_model": 8}])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    form = recorded.load("efficient_recall")["results"][0].keys()
    assert [run.keys() for run in results] == [form] * (len(sweep.MECHANISMS) + 1 + len(sweep.ONE_PROJECTION))
    assert all(0 <= run["right"] <= 0.6 for run in results)


def test_the_page_trains_the_model_that_was_recorded(sweep, request):
    chapter = nbformat.read(request.config.rootpath / "chapters" / "recall.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.cell_type == "code" and "class Reader" in cell.source)
    (definition,) = (node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef))
    names = {"nn": nn, "MultiHeadAttention": MultiHeadAttention, "sizes": sweep.COMMON}
    exec(compile(ast.Module([definition], type_ignores=[]), "chapter", "exec"), names)
    people = tasks.related_letters(3, 8, 16, sweep.COMMON["n_letters"], 1, torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    printed = names["Reader"](8, LinearAttention())(people)
    torch.manual_seed(0)
    own = sweep.Reader(8, sweep.COMMON["d_model"], sweep.COMMON["n_letters"], LinearAttention())(people)
    assert torch.allclose(printed, own)
