import ast
import math

import nbformat
import pytest
import torch
from torch import nn

from attention_course import MultiHeadAttention, recorded
from attention_course.positions import SinusoidalPositions
from attention_course.transformer import FeedForward


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("transformer_parts")
    assert record["settings"] == {
        "common": sweep.COMMON,
        "experiments": sweep.EXPERIMENTS,
        "peak_lrs": sweep.PEAK_LRS,
        "seeds": sweep.SEEDS,
        "patience": sweep.PATIENCE,
    }
    made = [{name: run[name] for name in sweep.PATIENCE[0]} | {"seed": run["seed"]} for run in record["patience"]]
    assert made == [longer | {"seed": seed} for longer in sweep.PATIENCE for seed in sweep.SEEDS]


def test_every_model_has_every_rate_and_more_seeds_at_the_one_that_fits_best(sweep):
    results = recorded.load("transformer_parts")["results"]
    assert len(results) == len(sweep.EXPERIMENTS) * len(sweep.WITHOUT) * (len(sweep.PEAK_LRS) + len(sweep.SEEDS) - 1)
    for experiment in sweep.EXPERIMENTS:
        for without in sweep.WITHOUT:
            runs = [run for run in results if (run["experiment"], run["without"]) == (experiment, without)]
            first = [run for run in runs if run["seed"] == sweep.SEEDS[0]]
            assert [run["peak_lr"] for run in first] == sweep.PEAK_LRS
            best = min(first, key=lambda run: math.inf if run["loss"] is None else run["loss"])["peak_lr"]
            assert [run["seed"] for run in runs if run["peak_lr"] == best] == sweep.SEEDS


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"task": "table", "n_symbols": 5, "n_layers": 1, "steps": 4}
    monkeypatch.setattr(sweep, "EXPERIMENTS", {"small": small})
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"batch": 4, "test_examples": 10})
    monkeypatch.setattr(sweep, "PEAK_LRS", [0.001])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    longer = {"experiment": "small", "without": "residual", "times": 2, "peak_lr": 0.001}
    monkeypatch.setattr(sweep, "PATIENCE", [longer])
    made = sweep.run()
    assert [run | longer for run in made["patience"]] == made["patience"]
    results = made["results"]
    assert [run["without"] for run in results] == sweep.WITHOUT
    form = recorded.load("transformer_parts")["results"][0].keys()
    assert all(run.keys() == form for run in results)


def test_the_table_answers_for_a_symbol_and_the_one_before(sweep):
    source, target = sweep.table(200, 8, 4, torch.Generator().manual_seed(0))
    answers = {}
    for symbols, told in zip(source.tolist(), target.tolist(), strict=True):
        for place in range(8):
            pair = symbols[place], symbols[place - 1]
            assert answers.setdefault(pair, told[place]) == told[place]
    assert len(answers) == 16


@pytest.mark.parametrize("without", [None, "attention", "feed-forward", "residual", "layer norm"])
def test_the_chapter_trains_the_model_that_was_recorded(sweep, without, request):
    chapter = nbformat.read(request.config.rootpath / "chapters" / "transformer.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.cell_type == "code" and "class Stack" in cell.source)
    kept = [
        node
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.ClassDef) or getattr(node, "name", "") == "table"
    ]
    names = {"nn": nn, "torch": torch, "MultiHeadAttention": MultiHeadAttention}
    names |= {"FeedForward": FeedForward, "SinusoidalPositions": SinusoidalPositions}
    names["answers"] = torch.randint(32, (32, 32), generator=torch.Generator().manual_seed(7))
    exec(compile(ast.Module(kept, type_ignores=[]), "chapter", "exec"), names)

    source, target = names["table"](3, 8, 32, torch.Generator().manual_seed(0))
    its_source, its_target = sweep.table(3, 8, 32, torch.Generator().manual_seed(0))
    assert torch.equal(source, its_source) and torch.equal(target, its_target)
    torch.manual_seed(0)
    printed = names["Stack"](32, 2, without)(source)
    torch.manual_seed(0)
    assert torch.allclose(printed, sweep.Stack(32, 2, without)(source))


def test_what_is_missing_is_missing(sweep):
    def count(kind, without):
        return sum(isinstance(module, kind) for module in sweep.Stack(8, 3, without).modules())

    for without in sweep.WITHOUT:
        assert count(sweep.SelfAttention, without) == (0 if without == "attention" else 3)
        assert count(FeedForward, without) == (0 if without == "feed-forward" else 3)
        layers = 3 if without in ("attention", "feed-forward") else 6
        assert count(nn.LayerNorm, without) == (0 if without == "layer norm" else layers + 1)
        assert all(
            layer.residual == (without != "residual")
            for layer in sweep.Stack(8, 3, without).modules()
            if isinstance(layer, sweep.Layer)
        )
