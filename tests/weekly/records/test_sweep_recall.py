import ast

import nbformat
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import recorded, scaled_dot_product_attention


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("recall")
    assert record["settings"] == sweep.SETTINGS | {"seeds": sweep.SEEDS}
    made = [(result["kind"], result["rate"]) for result in record["results"]]
    assert made == [(kind, rate) for kind in sweep.KINDS for rate in sweep.RATES]
    assert all(len(result["recalled"]) == len(sweep.SEEDS) for result in record["results"])


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"steps": 2, "batch": 4, "test_sequences": 10})
    monkeypatch.setattr(sweep, "RATES", [0.01])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert all(result.keys() == recorded.load("recall")["results"][0].keys() for result in results)
    assert all(0 <= result["recalled"][0] <= 1 for result in results)


def test_only_the_first_symbol_can_be_asked_for(sweep):
    symbols = sweep.draw(50, torch.Generator().manual_seed(0))
    assert symbols.shape == (50, sweep.SETTINGS["n_tokens"])
    assert set(symbols[:, 0].tolist()) == set(range(8))
    assert set(symbols[:, 1:].flatten().tolist()) == set(range(8, 16))


def test_an_open_gate_keeps_the_state(sweep):
    torch.manual_seed(0)
    gru, token, state = nn.GRU(4, 4), torch.zeros(1, 1, 4), torch.ones(1, 1, 4)
    for biases in (gru.bias_ih_l0, gru.bias_hh_l0):
        nn.init.zeros_(biases)
    nn.init.zeros_(gru.weight_hh_l0)
    _, kept = sweep.open_gate(gru)(token, state)
    # The new state is zero, so what is left of the old one is the gate.
    assert torch.allclose(kept, torch.tensor(3.0).sigmoid().expand(1, 1, 4), atol=1e-6)


def test_the_page_trains_the_models_that_were_recorded(sweep, request):
    page = nbformat.read(request.config.rootpath / "chapters" / "recurrence.ipynb", as_version=4)
    names = {"nn": nn, "torch": torch, "F": F, "scaled_dot_product_attention": scaled_dot_product_attention}
    for start in ("def open_gate", "class Recall"):
        (cell,) = (cell for cell in page.cells if cell.cell_type == "code" and start in cell.source)
        kinds = (ast.FunctionDef, ast.ClassDef)
        definitions = [node for node in ast.parse(cell.source).body if isinstance(node, kinds)]
        exec(compile(ast.Module(definitions, type_ignores=[]), "page", "exec"), names)
    symbols = sweep.draw(3, torch.Generator().manual_seed(0))
    for kind in sweep.KINDS:
        torch.manual_seed(0)
        printed = names["Recall"](kind)(symbols)
        torch.manual_seed(0)
        assert torch.equal(printed, sweep.Recall(kind, sweep.SETTINGS["width"])(symbols))
