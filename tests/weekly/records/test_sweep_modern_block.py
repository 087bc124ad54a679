import ast

import nbformat
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import MultiHeadAttention, recorded
from attention_course.positions import RotaryAttention


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("modern_block")
    varied = {"variants": sweep.VARIANTS, "peak_rates": sweep.PEAK_RATES, "seeds": sweep.SEEDS}
    assert record["settings"] == sweep.SETTINGS | varied
    made = [(run["variant"], run["rate"], run["seed"]) for run in record["results"]]
    assert made == [
        (variant, rate, seed) for variant in sweep.VARIANTS for rate in sweep.PEAK_RATES for seed in sweep.SEEDS
    ]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "batch": 2, "window": 8, "n_layers": 1})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    monkeypatch.setattr(sweep, "PEAK_RATES", [0.01])
    monkeypatch.setattr(sweep, "VARIANTS", {"all four": sweep.VARIANTS["all four"]})
    (run,) = sweep.run()["results"]
    assert run.keys() == recorded.load("modern_block")["results"][0].keys()
    assert 5 < run["bits"] < 14  # nothing is learned in two steps: an even guess costs 6.7


def test_variants_have_the_parts_that_they_are_named_after(sweep):
    models = {name: sweep.Writer(50, 48, 4, 1, **parts) for name, parts in sweep.VARIANTS.items()}
    counts = {name: sum(parameter.numel() for parameter in model.parameters()) for name, model in models.items()}
    base = counts.pop("unchanged")
    biases = 4 * 48 + 5 * 48  # of four projections and two matrices of the feed-forward layer
    assert base - counts["RMSNorm"] == 3 * 48  # the norms' biases: two in the block, one at the end
    assert base - counts["no biases"] == biases + 3 * 48
    assert base - counts["tied"] == 50 * 48
    assert counts["SwiGLU"] - base == 2 * 128 - 4 * 48  # three matrices as large as two; their biases
    assert counts["all four"] == base - biases - 3 * 48 - 50 * 48
    assert models["tied"].readout.weight is models["tied"].embedding.weight


@pytest.mark.parametrize("variant", ["unchanged", "all four"])
def test_the_page_trains_the_model_that_was_recorded(sweep, variant, request):
    page = nbformat.read(request.config.rootpath / "chapters" / "modern_block.ipynb", as_version=4)
    wanted = {"RMSNorm", "SwiGLU", "ModernBlock", "Writer", "make_norm", "make_feed_forward"}
    found = [
        node
        for cell in page.cells
        if cell.cell_type == "code" and any(f" {name}(" in cell.source for name in wanted)
        for node in ast.parse(cell.source).body
        if getattr(node, "name", "") in wanted
    ]
    names = {"nn": nn, "torch": torch, "F": F}
    names |= {"MultiHeadAttention": MultiHeadAttention, "RotaryAttention": RotaryAttention}
    exec(compile(ast.Module(found, type_ignores=[]), "page", "exec"), names)
    symbols = torch.randint(20, (3, 8))
    torch.manual_seed(0)
    printed = names["Writer"](20, 24, 4, 2, **sweep.VARIANTS[variant])(symbols)
    torch.manual_seed(0)
    assert torch.allclose(printed, sweep.Writer(20, 24, 4, 2, **sweep.VARIANTS[variant])(symbols), atol=1e-5)
