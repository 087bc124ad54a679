"""How much of a known truth is found, and that each method is asked with the model's own query, maps and baseline."""

import pytest
import torch
from torch import nn

from attention_course.interpreting import circuits, comparison, interpret, relevance
from attention_course.transformer import Encoder


def test_the_share_found_counts_as_many_as_decide():
    scores = torch.tensor([[9.0, 1, 8, 2], [9, 1, 8, 2], [9, 1, 8, 2]])
    gold = torch.tensor([[True, True, False, False], [False, False, True, False], [True, False, True, False]])
    assert comparison.share_found(scores, gold).tolist() == pytest.approx([0.5, 0, 1])


def test_what_cannot_be_scored_is_named():
    with pytest.raises(ValueError, match=r"gold must have the scores' shape \(1, 2\), got \(2, 1\)"):
        comparison.share_found(torch.ones(1, 2), torch.ones(2, 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="a token in every row"):
        comparison.share_found(torch.ones(2, 2), torch.tensor([[True, True], [False, False]]))


def test_the_order_of_scores_is_compared_by_ranks_that_equal_scores_share():
    scores = torch.tensor([[1.0, 2, 3], [1, 2, 3], [1, 1, 1], [0, 0, 5]])
    others = torch.tensor([[5.0, 60, 700], [9, 8, 1], [1, 2, 3], [1, 2, 3]])
    expected = [1, -1, 0, 3**0.5 / 2]  # of 0, 0, 5 the ranks are 1/2, 1/2, 2
    assert comparison.same_order(scores, others).tolist() == pytest.approx(expected)
    assert comparison.same_order(others, scores).tolist() == pytest.approx(expected)
    nearly = scores + torch.tensor([0.0, 1e-9, 0])
    assert comparison.same_order(nearly, others).tolist() == pytest.approx(expected)


class Reader(nn.Module):
    """A model as `every_method` wants it, in double precision."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(7, 8)
        self.encoder = Encoder(8, 2, 2)
        self.readout = nn.Linear(8, 1)
        self.double()

    def read(self, x, mask=None):
        x, maps = self.encoder(x, None if mask is None else mask[:, None, None], need_weights=True)
        return self.readout(x[:, -1]).squeeze(-1), maps


def test_every_method_is_called_as_it_is_meant():
    model, tokens = Reader(), torch.randint(7, (3, 5), generator=torch.Generator().manual_seed(0))
    x = model.embedding(tokens).detach()
    maps = model.read(x)[1]
    baseline = x.mean((0, 1)).expand_as(x)
    scores = comparison.every_method(model, tokens, baseline, steps=20)
    assert all(score.shape == (3, 5) and (score >= 0).all() for score in scores.values())

    def answer(x):
        return model.read(x)[0]

    torch.testing.assert_close(scores["weights, first block"], maps[0].mean(1)[:, -1])
    torch.testing.assert_close(scores["weights, last block"], maps[1].mean(1)[:, -1])
    torch.testing.assert_close(scores["weights, all blocks"], (maps[0] + maps[1]).mean(1)[:, -1] / 2)
    torch.testing.assert_close(scores["rollout"], interpret.rollout(maps)[:, -1])
    torch.testing.assert_close(scores["flow"], interpret.attention_flow(maps, query=4))
    torch.testing.assert_close(scores["gradient"], interpret.gradients(answer, x).norm(dim=-1))
    torch.testing.assert_close(scores["gradient × input"], interpret.gradient_times_input(answer, x).abs())
    gathered = interpret.integrated_gradients(answer, x, baseline, 20).abs()
    torch.testing.assert_close(scores["integrated gradients"], gathered)
    zeros = x * torch.tensor([0, 0, 0, 0, 1.0])[:, None]
    gathered = interpret.integrated_gradients(answer, x, zeros, 20).abs()
    torch.testing.assert_close(scores["integrated from 0"], gathered)

    def chosen(x):
        number, maps = model.read(x)
        return number.abs(), maps

    torch.testing.assert_close(scores["relevance"], relevance.relevance(chosen, x)[:, -1])
    states, _ = model.encoder.blocks[0](x)
    last = model.encoder.blocks[1]
    norms = relevance.weighted_norms(last.attention, last.attention_norm(states), maps[1])
    torch.testing.assert_close(scores["norms, last block"], norms[:, -1])
    torch.testing.assert_close(scores["token replaced"], interpret.replacement(answer, x, baseline).abs())
    mask = torch.ones_like(tokens, dtype=torch.bool)
    mask[:, 2] = False
    hidden = (answer(x) - model.read(x, mask)[0]).abs()
    torch.testing.assert_close(scores["token hidden"][:, 2], hidden)
    missed = circuits.head_ablation(lambda: answer(x), [block.attention for block in model.encoder.blocks]).abs()
    by_hand = sum(missed[:, b, h, None] * maps[b][:, h, -1] for b in range(2) for h in range(2))
    torch.testing.assert_close(scores["head ablation"], by_hand)
