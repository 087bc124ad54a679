import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import recorded
from attention_course.classifiers import Classifier
from attention_course.positions import SinusoidalPositions
from attention_course.tasks.negation import PAD, reviews

RECORD = recorded.load("poolings")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    made = [(result["pooling"], result["causal"], result["masked"], result["seed"]) for result in RECORD["results"]]
    assert made == [(*model, seed) for model in sweep.MODELS for seed in sweep.SEEDS]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {"n_train": 20, "batch": 4, "steps": 2, "test_examples": 30, "pads": [0, 3]}
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "SEEDS", [0])
    results = sweep.run()["results"]
    first = {(r["pooling"], r["causal"], r["masked"]): tuple(r) for r in RECORD["results"] if r["seed"] == 0}
    assert {(r["pooling"], r["causal"], r["masked"]): tuple(r) for r in results} == first
    for result in results:
        if result["pooling"] == "mean":  # without pads a mask has nothing to hide
            assert result["forgotten"][0] == pytest.approx(result["right"], abs=0.04)
            assert result["forgotten in the pooling"][0] == pytest.approx(result["right"], abs=0.04)


@torch.no_grad()
def test_its_mean_and_its_query_are_the_packages(sweep):
    symbols = reviews(10, torch.Generator().manual_seed(0)).tokens
    for how, name in (("mean", "mean"), ("query", "attention")):
        torch.manual_seed(0)
        mine = sweep.Pooled(how, causal=False)
        nn.init.normal_(mine.query)
        d_model = sweep.SETTINGS["d_model"]
        embed, positions = mine.embedding, SinusoidalPositions(d_model)
        theirs = Classifier(embed, 2, d_model, sweep.SETTINGS["n_heads"], 2, pooling=name, positions=positions)
        theirs.encoder.blocks, theirs.encoder.norm, theirs.logits = mine.blocks, mine.norm, mine.logits
        if how == "query":
            theirs.pooling.score.weight.copy_(mine.query[None])
        torch.testing.assert_close(mine(symbols)[0], theirs(symbols, symbols != PAD)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("how", "causal"), [("mean", False), ("max", False), ("query", False), ("cls", False), ("last", True)]
)
@torch.no_grad()
def test_padding_does_not_vote(sweep, how, causal):
    torch.manual_seed(0)
    model = sweep.Pooled(how, causal)
    symbols = torch.randint(1, sweep.CLS, (3, 6))
    logits, shares = model(symbols)
    padded, longer = model(F.pad(symbols, (0, 5)))
    torch.testing.assert_close(padded, logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(longer[:, : shares.size(1)], shares, atol=1e-5, rtol=0)
    torch.testing.assert_close(shares.sum(1), torch.ones(3))


@torch.no_grad()
def test_a_cls_token_in_front_of_a_causal_model_says_the_same_about_every_review(sweep):
    model = sweep.Pooled("cls", causal=True)
    logits, _ = model(torch.randint(1, sweep.CLS, (5, 6)))
    torch.testing.assert_close(logits, logits[:1].expand(5, 2))
