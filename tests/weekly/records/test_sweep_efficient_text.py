import ast

import nbformat
import torch

from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("efficient_text")
    assert record["settings"] == sweep.SETTINGS
    varied = ("mechanism", "steps", "peak_lr")
    models = [sweep.SETTINGS | model for model in [{"mechanism": name} for name in sweep.MECHANISMS] + sweep.CHANCES]
    wanted = [(*(model[name] for name in varied), seed) for model in models for seed in sweep.SEEDS]
    assert [(*(run[name] for name in varied), run["seed"]) for run in record["results"]] == wanted


def test_every_mechanism_is_in_the_same_model():
    """Only hashing has fewer parameters: its queries and keys are one projection."""
    results = recorded.load("efficient_text")["results"]
    assert len({run["parameters"] for run in results if run["mechanism"] != "LSH"}) == 1


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"window": 32, "batch": 2, "steps": 2})
    monkeypatch.setattr(sweep, "CHANCES", [])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    assert [run["mechanism"] for run in results] == sweep.MECHANISMS
    form = recorded.load("efficient_text")["results"][0].keys()
    for run in results:
        assert run.keys() == form
        assert 4 < run["bits"] < 9  # nothing is learned in two steps


def test_no_mechanism_sees_the_future(sweep):
    symbols = torch.randint(50, (2, 40), generator=torch.Generator().manual_seed(0))
    changed = symbols.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % 50
    for name in sweep.MECHANISMS:
        torch.manual_seed(0)
        model = sweep.make_model(name, 50, 40).eval()
        outputs = []
        for each in (symbols, changed):
            torch.manual_seed(1)
            with torch.no_grad():
                outputs.append(model(each)[0][:, :20])
        difference = (outputs[0] - outputs[1]).abs().max()
        # Which tokens share a bucket's chunk depends on all of them: hashing hides the future's content only.
        assert name == "LSH" or difference < 1e-4, name


def test_the_page_uses_the_mechanisms_that_were_recorded(sweep, request):
    chapter = nbformat.read(request.config.rootpath / "chapters" / "approximations.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.cell_type == "code" and "def causal_mechanisms" in cell.source)
    (definition,) = (
        node
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef) and node.name == "causal_mechanisms"
    )
    names = dict(vars(sweep))
    exec(compile(ast.Module([definition], type_ignores=[]), "chapter", "exec"), names)
    torch.manual_seed(0)
    printed = names["causal_mechanisms"](64)
    assert list(printed) == sweep.MECHANISMS
    query, key, value = torch.randn(3, 1, 2, 64, 16)
    for name, mechanism in printed.items():
        own = sweep.make_mechanism(name, 64)
        if name == "exact":
            assert mechanism is own
            continue
        if name == "Performer":
            own.directions.copy_(mechanism.directions)
        if name == "BigBird":
            assert mechanism.block_size == own.block_size and mechanism.layout.shape == own.layout.shape
            continue
        outputs = []
        for each in (mechanism, own):
            torch.manual_seed(1)
            outputs.append(each(query, query if name == "LSH" else key, value)[0])
        assert torch.equal(*outputs), name
