import ast

import nbformat
import torch
from torch import nn

from attention_course import recorded
from attention_course.positions import SinusoidalPositions
from attention_course.transformer import Encoder


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("transformer_depth")
    varied = {"warm_ups": sweep.WARM_UPS, "rates": sweep.RATES, "seeds": sweep.SEEDS}
    varied |= {"xavier_rates": sweep.XAVIER_RATES}
    assert record["settings"] == sweep.SETTINGS | varied
    made = [(run["norm_first"], run["warm_up"], run["rate"], run["seed"]) for run in record["results"]]
    assert made == [
        (norm_first, warm_up, rate, seed)
        for norm_first in (True, False)
        for warm_up in sweep.WARM_UPS
        for rate in sweep.RATES
        for seed in sweep.SEEDS
    ]
    assert [(run["norm_first"], run["rate"], run["seed"]) for run in record["xavier_results"]] == [
        (norm_first, rate, seed) for norm_first in (True, False) for rate in sweep.XAVIER_RATES for seed in sweep.SEEDS
    ]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"n_layers": 2, "steps": 3, "last_steps": 2, "batch": 4, "test_examples": 10}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "SEEDS", [0])
    monkeypatch.setattr(sweep, "RATES", [0.001])
    monkeypatch.setattr(sweep, "XAVIER_RATES", [0.001])
    made = sweep.run()
    results, xavier_results = made["results"], made["xavier_results"]
    record = recorded.load("transformer_depth")
    assert [run.keys() for run in results] == [record["results"][0].keys()] * 4
    assert [run.keys() for run in xavier_results] == [record["xavier_results"][0].keys()] * 2
    # Nothing is learned in three steps: near the logarithm of the number of symbols.
    assert all(1.5 < run["loss"] < 4.5 for run in results + xavier_results)


def test_xavier_draws_the_matrices_of_the_stack_larger(sweep):
    torch.manual_seed(0)
    model = sweep.Sorter(16, 64, 4, 2, norm_first=True)
    embedding = model.embedding.weight.clone()
    plain = model.encoder.blocks[0].feed_forward[0].weight.std().item()
    sweep._draw_xavier(model.encoder)
    drawn = model.encoder.blocks[0].feed_forward[0].weight.std().item()
    # Xavier's variance is 2 / (64 + 256); nn.Linear's is 1 / (3 * 64).
    assert abs(plain - (1 / 192) ** 0.5) < 0.003
    assert abs(drawn - (2 / 320) ** 0.5) < 0.003
    assert torch.equal(model.embedding.weight, embedding)


def test_a_warm_up_starts_low_and_ends_at_the_rate(sweep, monkeypatch):
    """Fewer than the warm-up's steps move the model less than as many at the full rate."""
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"n_layers": 2, "steps": 30, "last_steps": 5, "batch": 16})
    constant, growing = (sweep._train_and_test(True, warm_up, 0.003, 0)["loss"] for warm_up in (0, 1000))
    assert constant < growing - 0.1


def test_the_chapter_trains_the_model_that_was_recorded(sweep, request):
    chapter = nbformat.read(request.config.rootpath / "chapters" / "depth.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.cell_type == "code" and "class Sorter" in cell.source)
    (definition,) = (node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef))
    names = {"nn": nn, "torch": torch, "Encoder": Encoder, "SinusoidalPositions": SinusoidalPositions}
    exec(compile(ast.Module([definition], type_ignores=[]), "chapter", "exec"), names)
    numbers = torch.randint(16, (3, 8))
    for norm_first in (True, False):
        torch.manual_seed(0)
        printed = names["Sorter"](16, 8, 2, 2, norm_first)(numbers)
        torch.manual_seed(0)
        assert torch.allclose(printed, sweep.Sorter(16, 8, 2, 2, norm_first)(numbers))
