import nbformat
import pytest
import torch
from torch import nn

from attention_course import MultiHeadAttention, recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("circuits")
    assert record["settings"] == sweep.COMMON
    assert sweep.SHOWN.items() <= record["shown"].items()
    assert sweep.PRUNED.items() <= record["pruning"].items()
    made = [tuple(result[name] for name in (*sweep.VARIED, "seed")) for result in record["results"]]
    assert made == [
        (*((sweep.COMMON | changes)[name] for name in sweep.VARIED), seed)
        for changes in sweep.MODELS
        for seed in sweep.SEEDS
    ]


def test_every_order_removes_every_head_once_and_ends_at_the_same_cost():
    pruning = recorded.load("circuits")["pruning"]
    assert sorted(map(tuple, pruning["order"])) == [(block, head) for block in range(3) for head in range(4)]
    curves = [pruning["least_missed"], *pruning["at_random"]]
    assert len({(len(curve), curve[0], curve[-1]) for curve in curves}) == 1


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"steps": 2, "batch": 8, "test_sequences": 10})
    monkeypatch.setattr(sweep, "MODELS", [{"n_blocks": 1}, {}])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    monkeypatch.setattr(sweep, "PRUNED", sweep.PRUNED | {"n_windows": 1, "window": 8})
    made, record = sweep.run(), recorded.load("circuits")
    assert all(result.keys() == record["results"][0].keys() for result in made["results"])
    assert made["shown"].keys() == record["shown"].keys()
    assert made["pruning"].keys() == record["pruning"].keys()


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_the_page_trains_the_model_that_was_recorded(sweep, n_blocks, request):
    notebook = nbformat.read(request.config.rootpath / "chapters" / "circuits.ipynb", as_version=4)
    names = {"nn": nn, "torch": torch, "MultiHeadAttention": MultiHeadAttention}
    source = next(cell.source for cell in notebook.cells if cell.source.startswith("class AttentionOnly"))
    exec(source, names)
    symbols = torch.randint(26, (3, 32), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    printed, _ = names["AttentionOnly"](n_blocks)(symbols)
    torch.manual_seed(0)
    assert torch.equal(printed, sweep.AttentionOnly(n_blocks)(symbols)[0])
