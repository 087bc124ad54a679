import ast
from functools import partial

import nbformat
import torch
from torch import nn

from attention_course import recorded, scaled_dot_product_attention


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("scale_rates")
    assert record["settings"] == {"store": sweep.STORE, "reversing": sweep.REVERSING | {"test_length": 16}}
    made = [{name: run[name] for name in run if name != "accuracy"} for run in record["store"]]
    assert made == [run | {"seed": seed} for run in sweep.GRID + sweep.LONGER for seed in sweep.SEEDS]
    made = [(run["scaled"], run["seed"]) for run in record["reversing"]]
    assert made == [(scaled, seed) for scaled in (True, False) for seed in sweep.SEEDS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "GRID", [sweep.GRID[0] | {"steps": 2}])
    monkeypatch.setattr(sweep, "LONGER", [])
    monkeypatch.setattr(sweep, "STORE", sweep.STORE | {"batch": 4, "test_stores": 10})
    monkeypatch.setattr(sweep, "REVERSING", sweep.REVERSING | {"steps": 2, "batch": 4, "test_examples": 10})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    made, record = sweep.run(), recorded.load("scale_rates")
    assert [run.keys() for run in made["store"]] == [record["store"][0].keys()]
    assert [run.keys() for run in made["reversing"]] == [record["reversing"][0].keys()] * 2
    assert all(0 <= run["accuracy"] <= 1 for part in ("store", "reversing") for run in made[part])


def test_scaling_the_query_scales_the_scores(sweep):
    query, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    output, weights = sweep.ScaledDotAttention(8, 8, "dot")(query, memory, memory)
    expected, expected_weights = scaled_dot_product_attention(query, memory, memory)
    assert torch.allclose(output, expected, atol=1e-6)
    assert torch.allclose(weights, expected_weights, atol=1e-6)


def test_the_page_trains_the_store_that_was_recorded(sweep, request):
    page = nbformat.read(request.config.rootpath / "chapters" / "scale.ipynb", as_version=4)
    (cell,) = (cell for cell in page.cells if cell.cell_type == "code" and "class Store" in cell.source)
    (definition,) = (node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef))
    names = {"nn": nn, "torch": torch, "scaled_dot_product_attention": scaled_dot_product_attention}
    exec(compile(ast.Module([definition], type_ignores=[]), "page", "exec"), names)
    symbols, values, asked, _ = sweep.make_stores(3, torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    store = names["Store"](8, partial(scaled_dot_product_attention, scale=0.5))
    printed, _ = store(symbols, values, asked[:, None])
    torch.manual_seed(0)
    assert torch.allclose(printed, sweep.Store(64, 8, 0.5)(asked, symbols, values), atol=1e-6)
