import ast
import math
from functools import partial

import nbformat
import pytest
import torch

from attention_course import recorded
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("length_remedies")
    assert record["settings"] == sweep.SETTINGS | {"seeds": sweep.SEEDS, "tuning_steps": sweep.TUNING}
    made = [(run["method"], run["seed"]) for run in record["hidden"]]
    assert made == [(method, seed) for method in sweep.HIDDEN for seed in sweep.SEEDS]
    made = [(run["seed"], run["way"], run["steps"]) for run in record["turned"]]
    tested = [(way, step) for way, steps in sweep.TUNING.items() for step in steps]
    assert made == [(seed, *pair) for seed in sweep.SEEDS for pair in tested]
    made = [(run["seed"], run["query"]) for run in record["farthest"]]
    assert made == [(seed, query) for seed in sweep.SEEDS for query in sweep.SETTINGS["queries"]]
    for part in ("clipped", "scores"):
        assert [run["seed"] for run in record[part]] == sweep.SEEDS


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"train_length": 8, "test_length": 16, "steps": 2, "test_examples": 50, "queries": [9, 15]}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep.lengths, "SETTINGS", sweep.lengths.SETTINGS | small)
    monkeypatch.setattr(sweep, "TUNING", {"as trained": [0], "interpolated": [0, 1]})
    monkeypatch.setattr(sweep, "SEEDS", [0])
    made, record = sweep.run(), recorded.load("length_remedies")
    for part in ("hidden", "clipped", "turned", "farthest", "scores"):
        assert made[part][0].keys() == record[part][0].keys()
        assert made[part][-1].keys() == record[part][-1].keys()
    assert len(made["hidden"]) == 3 and len(made["turned"]) == 3 and len(made["farthest"]) == 2
    assert all(8 <= run["distance"] < 16 for run in made["farthest"])


def test_with_the_trained_frequencies_it_is_rope(sweep):
    sizes = (5, 32, 2, 1)
    theirs = CausalLanguageModel(*sizes, attention=RotaryAttention())
    mine = CausalLanguageModel(*sizes, attention=sweep.Turning(sweep.frequencies("as trained", 16, 32, 8)))
    mine.load_state_dict(theirs.state_dict())
    symbols = torch.randint(5, (2, 40))
    torch.testing.assert_close(mine(symbols)[0], theirs(symbols)[0], atol=1e-4, rtol=0)


def _untrained(attention):
    torch.manual_seed(0)
    return CausalLanguageModel(5, 64, 4, 2, attention=attention)


def test_clipped_scores_a_long_distance_as_the_longest_and_a_shorter_one_as_rope(sweep):
    frequency = sweep.frequencies("as trained", 16, 32, 8)
    query, key, value = torch.randn(3, 1, 1, 9, 16).unbind(0)
    _, weights = sweep.Clipped(frequency, 5)(query, key, value)
    scores = torch.full((9, 9), -math.inf, dtype=torch.float64)
    for late in range(9):
        for early in range(late + 1):
            angle = min(late - early, 5) * frequency.double()
            even, odd = query[0, 0, late, 0::2].double(), query[0, 0, late, 1::2].double()
            turned = torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1)
            scores[late, early] = turned.flatten() @ key[0, 0, early].double() / 4
    torch.testing.assert_close(weights[0, 0].double(), scores.softmax(-1), atol=1e-5, rtol=0)


def test_the_sum_of_cosines_is_the_mean_score_of_all_queries_with_all_keys(sweep):
    turning = sweep.Turning(sweep.frequencies("as trained", 16, 32, 8))
    model = _untrained(turning)
    symbols = torch.randint(5, (3, 12))
    strength, score = sweep.score_by_distance(model, symbols, 6, 50)
    block = model.blocks[1].attention
    seen = []
    block.attention.register_forward_pre_hook(lambda module, inputs: seen.extend(inputs[:2]))
    model(symbols)
    query, key = (tokens[:, 2, 1:].flatten(0, 1).detach() for tokens in seen)
    for distance in (0, 4, 49):
        place = torch.full((len(query),), distance)
        mean = (turning.turn(query, place) @ key.T).mean() / 4
        torch.testing.assert_close(score[distance], mean, atol=1e-5, rtol=1e-4)
    assert strength.shape == (8,) and (strength > 0).all()


def test_each_way_slows_the_pairs_it_says(sweep):
    made = partial(sweep.frequencies, d_head=16, length=32, factor=8)
    trained = torch.tensor([10_000 ** (-i / 8) for i in range(8)])
    torch.testing.assert_close(made("as trained"), trained)
    slowed = {way: trained / made(way) for way in ("interpolated", "base raised", "by parts")}
    torch.testing.assert_close(slowed["interpolated"], torch.full((8,), 8.0))
    torch.testing.assert_close(slowed["base raised"], torch.tensor([8 ** (i / 7) for i in range(8)]))
    # 1 and 0.316 radians a step are 5.1 and 1.6 turns in 32 steps; 0.1 is half a turn.
    torch.testing.assert_close(slowed["by parts"], torch.tensor([1.0, 1] + [8.0] * 6))
    assert 32 * trained[1] > 2 * math.pi > 32 * trained[2]


def test_the_head_found_is_the_one_that_looks_back(sweep):
    gold = torch.zeros(2, 8, 256, 256)
    gold[:, 5] = torch.eye(256).roll(4, 0)
    gold[:, 3] = torch.eye(256).roll(3, 0)

    def model(symbols, need_weights):
        return None, list(gold.expand(2, -1, -1, -1).split(4, dim=1))

    class Made:
        symbols = None

    def make(n_examples, length, generator):
        return Made

    assert sweep.looking_head(model, make) == 5
    assert sweep._by_distance(model, make, 5, 160).argmax() == 4
    assert sweep._by_distance(model, make, 3, 160).argmax() == 3


@pytest.mark.parametrize("name", ["turn", "forward"])
def test_the_page_turns_as_the_sweep_does(sweep, request, name):
    """The class on the page and the one that was recorded give the same."""
    page = nbformat.read(request.config.rootpath / "chapters" / "reaching_farther.ipynb", as_version=4)
    cell = next(cell.source for cell in page.cells if "class Turning" in cell.source)
    scope = {"torch": torch} | {key: getattr(sweep, key) for key in ("Mechanism", "scaled_dot_product_attention")}
    exec(compile(ast.parse(cell), "reaching_farther.ipynb", "exec"), scope)
    frequency = sweep.frequencies("by parts", 16, 32, 8)
    inputs = torch.randn(1 if name == "turn" else 3, 2, 4, 20, 16)
    options = {} if name == "turn" else {"need_weights": False}
    mine, theirs = (getattr(made(frequency), name)(*inputs, **options) for made in (scope["Turning"], sweep.Turning))
    torch.testing.assert_close(mine, theirs)
