from dataclasses import replace

import nbformat
import pytest
import torch
from torch import nn

from attention_course import recorded, tasks
from attention_course.efficient.linear import elu_plus_one
from attention_course.positions import rotate

RECORD = recorded.load("states")


def of(results, **wanted):
    return [run for run in results if wanted.items() <= run.items()]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    few, many = (sweep.SETTINGS[name] for name in ("few_steps", "many_steps"))
    jobs = [{"task": "recall", "n_pairs": n} for n in sweep.N_PAIRS] + [{"task": "changing"}, {"task": "text"}]
    n_runs = 0
    for job in jobs:
        n_ways = len(sweep.SETTINGS["peak_lrs"]) * (1 if job["task"] == "recall" else len(sweep.POSITIONS))
        score = sweep.SCORES[job["task"]]
        for name in sweep.MECHANISMS:
            runs = of(RECORD["results"], mechanism=name, **job)
            tried = of(runs, steps=few, seed=0)
            assert len(tried) == n_ways and len(runs) == n_ways + 2 + len(sweep.SEEDS)
            best = (max if score == "right" else min)(tried, key=lambda run: run[score])
            way = {what: best[what] for what in ("peak_lr", "positions") if what in best}
            assert [run["seed"] for run in of(runs, steps=few, **way)] == sweep.SEEDS
            assert [run["seed"] for run in of(runs, steps=many, **way)] == sweep.SEEDS
            n_runs += len(runs)
    assert n_runs == len(RECORD["results"])


@pytest.mark.parametrize("asked", [{"task": "recall", "n_pairs": 8}, {"task": "changing"}, {"task": "text"}])
def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch, asked):
    small = {"few_steps": 2, "many_steps": 3, "peak_lrs": [0.01]}
    small["recall"] = sweep.SETTINGS["recall"] | {"questions": 16, "test_questions": 80}
    small["text"] = sweep.SETTINGS["text"] | {"batch": 2, "n_tokens": 32}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "POSITIONS", ["rotated"])
    monkeypatch.setattr(sweep, "SEEDS", [0, 1])
    characters = tasks.python_help()
    short = replace(characters, validation=characters.validation[: characters.validation.numel() // 10])
    monkeypatch.setattr(tasks, "python_help", lambda: short)
    for name in sweep.MECHANISMS:
        results = sweep.all_runs(asked | {"mechanism": name})
        assert [(run["steps"], run["seed"]) for run in results] == [(2, 0), (2, 1), (3, 0), (3, 1)]
        for run in results:
            assert run.keys() == of(RECORD["results"], mechanism=name, **asked)[0].keys()
            assert 4 < run["bits"] < 12 if asked["task"] == "text" else 0 <= run["right"] <= 1
            if asked["task"] == "changing":  # there are as many of either kind
                assert run["right"] == pytest.approx((run["changed"] + run["unchanged"]) / 2, abs=2e-4)


@torch.no_grad()
def test_no_layer_sees_the_future(sweep):
    symbols = torch.randint(50, (2, 40), generator=torch.Generator().manual_seed(0))
    changed = symbols.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % 50
    for name in sweep.MECHANISMS:
        for positions in sweep.POSITIONS:
            model = sweep.make_language_model(name, 50, positions).eval()
            one, other = (model(each)[0][:, :20] for each in (symbols, changed))
            assert (one - other).abs().max() < 1e-4, name


@torch.no_grad()
def test_where_positions_are_rotated_their_distance_alone_counts(sweep):
    model = sweep.make_language_model("softmax", 50, "rotated").eval()
    first, second = (block.attention.query_proj.weight for block in model.blocks)
    assert not torch.equal(first, second)  # each block has drawn its own
    layer = model.blocks[0].attention
    tokens = torch.randn(1, 1, 64).expand(-1, 30, -1)  # one token at all places: what differs is where it stands
    query, key = (proj(tokens).unflatten(-1, (4, 16)).transpose(1, 2) for proj in (layer.query_proj, layer.key_proj))
    assert_depends_on_distance(query @ key.mT)


def assert_depends_on_distance(scores):
    torch.testing.assert_close(scores[..., 1:, 1:], scores[..., :-1, :-1], atol=1e-4, rtol=1e-4)
    assert scores[..., 0, :].std() > 1e-3


@torch.no_grad()
def test_the_indexer_and_the_features_of_linear_attention_are_rotated_too(sweep):
    tokens = torch.randn(1, 1, 64).expand(-1, 30, -1)
    indexer = sweep.with_positions(sweep.make_layer("top-k"), "rotated").indexer
    query, _ = indexer.queries(tokens)
    assert_depends_on_distance(query @ indexer.keys(tokens).mT)

    layer = sweep.with_positions(sweep.make_layer("linear"), "rotated")
    query, key, value = torch.randn(3, 1, 4, 30, 16, dtype=torch.float64)
    output, _ = layer.attention(query, key, value)
    position = torch.arange(30)
    for i in (0, 7, 29):
        q, k = rotate(elu_plus_one(query), position)[..., i, :], rotate(elu_plus_one(key), position)[..., : i + 1, :]
        weights = (k @ q.unsqueeze(-1)).squeeze(-1)
        total = (elu_plus_one(key)[..., : i + 1, :] @ elu_plus_one(query)[..., i, :, None]).sum((-2, -1))
        expected = (weights.unsqueeze(-1) * value[..., : i + 1, :]).sum(-2) / total.unsqueeze(-1)
        torch.testing.assert_close(output[..., i, :], expected)


@torch.no_grad()
def test_the_sum_is_linear_attention_without_its_features_and_its_normaliser(sweep):
    layer = sweep.make_layer("sum")
    tokens = torch.randn(2, 100, 64, dtype=torch.float64)
    output, _ = layer.double()(tokens)
    query, key, value = (
        proj(tokens).unflatten(-1, (4, 16)).transpose(1, 2)
        for proj in (layer.query_proj, layer.key_proj, layer.value_proj)
    )
    summed = (query / 4 @ key.mT).tril() @ value
    torch.testing.assert_close(output, layer.out_proj(summed.transpose(1, 2).flatten(2)))


def test_the_page_trains_the_recorded_reader(sweep, request):
    page = nbformat.read(request.config.rootpath / "chapters" / "states.ipynb", as_version=4)
    source = next(cell.source for cell in page.cells if cell.source.startswith("class Reader"))
    names = {"torch": torch, "nn": nn}
    exec(source, names)
    recorded_reader = sweep.Reader(64, sweep.make_layer("delta"))
    printed = names["Reader"](64, 8, sweep.make_layer("delta"))
    printed.load_state_dict(recorded_reader.state_dict())
    people = tasks.related_letters(3, 32, 64, 8, 1, torch.Generator().manual_seed(0))
    given = people.name, people.letter, people.asked[..., 0]
    assert torch.equal(printed(*given), recorded_reader(*given))
