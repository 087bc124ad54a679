import nbformat
import torch
import torch.nn.functional as F

from attention_course import recorded

RECORD = recorded.load("decay")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    made = [{name: value for name, value in run.items() if name != "bits"} for run in RECORD["results"]]
    assert made == sweep.wanted()


def test_it_keeps_the_protocol_of_the_other_mechanisms():
    """The same model and training: exact attention and linear attention need the bits that were recorded before."""
    before = recorded.load("efficient_text")
    assert before["settings"].items() <= RECORD["settings"].items()
    for run in before["results"]:
        same = {name: run[name] for name in ("mechanism", "peak_lr", "seed")} | {"rotated": True}
        again = [other["bits"] for other in RECORD["results"] if same.items() <= other.items()]
        if again and run["steps"] == RECORD["settings"]["steps"]:
            assert abs(again[0] - run["bits"]) < 0.1  # another processor rounds otherwise


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | {"window": 32, "batch": 2, "steps": 2})
    monkeypatch.setattr(sweep, "PEAK_LRS", [0.01])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    monkeypatch.setattr(sweep, "FEWER_SEEDS", [0])
    results = sweep.run()["results"]
    assert len(results) == len(sweep.MECHANISMS) + len(sweep.WITHOUT_POSITIONS)
    for run in results:
        assert run.keys() == RECORD["results"][0].keys()
        assert 4 < run["bits"] < 9  # nothing is learned in two steps


def test_no_mechanism_sees_the_future(sweep):
    symbols = torch.randint(50, (2, 40), generator=torch.Generator().manual_seed(0))
    changed = symbols.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % 50
    for name in sweep.MECHANISMS:
        model = sweep.make_model(name, 50, rotated=True).eval()
        with torch.no_grad():
            one, other = (model(each)[0][:, :20] for each in (symbols, changed))
        assert (one - other).abs().max() < 1e-4, name


def test_the_lesson_decays_as_it_was_recorded(sweep, request):
    lesson = nbformat.read(request.config.rootpath / "chapters" / "efficient.ipynb", as_version=4)
    cells = [cell.source for cell in lesson.cells if cell.cell_type == "code"]
    names = {"torch": torch, "F": F}
    for start in ("def phi", "def decay_factors"):
        exec(next(source for source in cells if source.startswith(start)), names)
    assert names["decays"].flatten().tolist() == sweep.SETTINGS["decays"]
    query, key, value = torch.randn(3, 2, 4, 50, 16)
    printed = names["decayed"](query, key, value, names["decay_factors"](50, names["decays"]))
    assert torch.allclose(printed, sweep.Decay(sweep.SETTINGS["decays"])(query, key, value)[0], atol=1e-5)
