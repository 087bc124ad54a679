import ast
import math

import nbformat
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import MultiHeadAttention, recorded
from attention_course.positions import SinusoidalPositions


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("transformer_parts")
    assert record["settings"] == {
        "common": sweep.COMMON,
        "experiments": sweep.EXPERIMENTS,
        "widths": [{"without": without} | widths for without, widths in sweep.WIDTHS.items()],
        "peak_lrs": sweep.PEAK_LRS,
        "seeds": sweep.SEEDS,
        "patience": sweep.PATIENCE,
    }
    made = [{name: run[name] for name in sweep.PATIENCE[0]} | {"seed": run["seed"]} for run in record["patience"]]
    assert made == [longer | {"seed": seed} for longer in sweep.PATIENCE for seed in sweep.SEEDS]


def test_every_model_has_every_rate_and_more_seeds_at_the_one_that_fits_best(sweep):
    results = recorded.load("transformer_parts")["results"]
    assert len(results) == len(sweep.EXPERIMENTS) * len(sweep.WIDTHS) * (len(sweep.PEAK_LRS) + len(sweep.SEEDS) - 1)
    for experiment in sweep.EXPERIMENTS:
        for without in sweep.WIDTHS:
            runs = [run for run in results if (run["experiment"], run["without"]) == (experiment, without)]
            first = [run for run in runs if run["seed"] == sweep.SEEDS[0]]
            assert [run["peak_lr"] for run in first] == sweep.PEAK_LRS
            best = min(first, key=lambda run: math.inf if run["loss"] is None else run["loss"])["peak_lr"]
            assert [run["seed"] for run in runs if run["peak_lr"] == best] == sweep.SEEDS


def test_the_largest_rate_has_every_seed_with_and_without_norms(sweep):
    record = recorded.load("transformer_parts")
    made = [(run["experiment"], run["without"], run["peak_lr"], run["seed"]) for run in record["largest_rate"]]
    rate = sweep.PEAK_LRS[-1]
    assert made == [
        (experiment, without, rate, seed)
        for experiment in sweep.EXPERIMENTS
        for without in (None, "norm")
        for seed in sweep.SEEDS
    ]
    assert all(run in record["results"] for run in record["largest_rate"] if run["seed"] == sweep.SEEDS[0])


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"task": "code book", "n_symbols": 5, "n_blocks": 1, "steps": 4}
    monkeypatch.setattr(sweep, "EXPERIMENTS", {"small": small})
    monkeypatch.setattr(sweep, "COMMON", sweep.COMMON | {"batch": 4, "test_examples": 10})
    monkeypatch.setattr(sweep, "PEAK_LRS", [0.001])
    monkeypatch.setattr(sweep, "SEEDS", [0])
    longer = {"experiment": "small", "without": "residual", "times": 2, "peak_lr": 0.001}
    monkeypatch.setattr(sweep, "PATIENCE", [longer])
    made = sweep.run()
    assert [run | longer for run in made["patience"]] == made["patience"]
    assert [run["without"] for run in made["largest_rate"]] == [None, "norm"]
    results = made["results"]
    assert [run["without"] for run in results] == list(sweep.WIDTHS)
    form = recorded.load("transformer_parts")["results"][0].keys()
    assert all(run.keys() == form for run in results)


def test_the_book_answers_for_a_letter_and_the_one_before(sweep):
    source, target = sweep.code_book(200, 8, 4, torch.Generator().manual_seed(0))
    answers = {}
    for symbols, told in zip(source.tolist(), target.tolist(), strict=True):
        for place in range(8):
            pair = symbols[place - 1], symbols[place]
            assert answers.setdefault(pair, told[place]) == told[place]
    assert len(answers) == 16
    assert any(answers[a, b] != answers[b, a] for a, b in answers)


def test_the_lesson_builds_the_model_that_was_recorded(sweep, request):
    names = _of_the_lesson(request, {"FeedForward", "Block", "Transformer", "Nothing"})
    torch.manual_seed(0)
    recorded_model = sweep.Stack(26, 2, None)
    printed = names["Transformer"](26, n_blocks=2)
    printed.load_state_dict(recorded_model.state_dict())
    source, _ = sweep.code_book(3, 8, 26, torch.Generator().manual_seed(0))
    assert torch.allclose(printed(source), recorded_model(source), atol=1e-5)

    narrow = sweep.Stack(26, 2, "feed-forward, no wider")
    missing, unexpected = printed.load_state_dict(narrow.state_dict(), strict=False)
    assert not unexpected and all("feed_forward." in name for name in missing)
    for block in printed.blocks:
        block.feed_forward = names["Nothing"]()
    assert torch.allclose(printed(source), narrow(source), atol=1e-5)


def test_the_lesson_asks_the_book_that_was_recorded(sweep, request):
    names = _of_the_lesson(request, {"make_letters"})
    names["book"] = torch.randint(26, (26, 26), generator=torch.Generator().manual_seed(7))
    source, target = names["make_letters"](5, torch.Generator().manual_seed(0))
    its_source, its_target = sweep.code_book(5, 8, 26, torch.Generator().manual_seed(0))
    assert torch.equal(source, its_source) and torch.equal(target, its_target)


def _of_the_lesson(request, wanted):
    """Some of the classes and functions that the lesson prints."""
    lesson = nbformat.read(request.config.rootpath / "chapters" / "transformer.ipynb", as_version=4)

    class course:
        device = torch.device("cpu")

    names = {"nn": nn, "torch": torch, "F": F, "MultiHeadAttention": MultiHeadAttention, "course": course}
    names["SinusoidalPositions"] = SinusoidalPositions
    for cell in lesson.cells:
        if cell.cell_type == "code" and any(f" {name}(" in cell.source for name in wanted):
            kept = [n for n in ast.parse(cell.source.rstrip(";")).body if getattr(n, "name", "") in wanted]
            exec(compile(ast.Module(kept, type_ignores=[]), "lesson", "exec"), names)
    return names


def test_what_is_missing_is_missing(sweep):
    def count(kind, without):
        return sum(isinstance(module, kind) for module in sweep.Stack(8, 3, without).modules())

    for without in sweep.WIDTHS:
        assert count(MultiHeadAttention, without) == (0 if without == "attention" else 3)
        assert count(sweep.FeedForward, without) == (0 if "feed-forward" in str(without) else 3)
        assert count(nn.LayerNorm, without) == (0 if without == "norm" else 7)
        assert all(block.residual == (without != "residual") for block in sweep.Stack(8, 3, without).blocks)


def test_blocks_with_a_missing_part_have_as_many_parameters_but_where_said(sweep):
    def sizes(without):
        stack = sweep.Stack(26, 2, without)
        return [sum(parameter.numel() for parameter in part.parameters()) for part in (stack.blocks, stack)]

    for without in sweep.WIDTHS:
        blocks, whole = (mine / its for mine, its in zip(sizes(without), sizes(None), strict=True))
        if without == "feed-forward, no wider":
            assert blocks < 0.36
        else:
            assert abs(blocks - 1) < 0.03 and abs(whole - 1) < 0.08
