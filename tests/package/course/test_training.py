import itertools
import math

import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from attention_course.course import training


def fit_a_line(**options):
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    x = torch.randn(64, 1)
    return model, training.train(
        model,
        lambda: (x, 3 * x - 2),
        lambda model, batch: (model(batch[0]) - batch[1]).square().mean(),
        peak_lr=0.3,
        **options,
    )


def test_it_finds_a_least_squares_solution():
    model, history = fit_a_line(steps=300)
    assert model.weight.item() == pytest.approx(3, abs=0.02)
    assert model.bias.item() == pytest.approx(-2, abs=0.02)
    assert [record["step"] for record in history] == [0, 100, 200, 300]
    assert not model.training


def test_evaluation_runs_without_gradients_in_evaluation_mode_and_can_end_training():
    modes = []

    def evaluate(model):
        modes.append((model.training, torch.is_grad_enabled()))
        return {"error": abs(model.weight.item() - 3)}

    _, history = fit_a_line(steps=300, every=10, evaluate=evaluate, stop_when=lambda record: record["error"] < 0.5)
    assert set(modes) == {(False, False)}
    assert history[-1]["error"] < 0.5 and history[-1]["step"] < 300
    assert all(record["error"] >= 0.5 for record in history[:-1])


def test_each_step_is_one_update_in_training_mode():
    model, modes = nn.Linear(1, 1).eval(), []

    def loss(model, batch):
        modes.append(model.training)
        return model.weight.square().sum()

    training.train(model, lambda: None, loss, steps=7, peak_lr=0.1, every=3)
    assert modes == [True] * 8  # and one for the first record


def test_a_record_has_the_mean_loss_since_the_last_one_and_weights_decay():
    """The losses are 1, 2, 3 and so on, with no gradient: what weights then lose is AdamW's decay alone."""
    model, batches = nn.Linear(1, 1), itertools.count(1)
    before = model.weight.abs().item()
    history = training.train(
        model, lambda: next(batches), lambda model, batch: batch + 0 * model.weight.sum(), steps=7, peak_lr=0.1, every=3
    )
    assert [record["loss"] for record in history] == [1, (2 + 3 + 4) / 3, (5 + 6 + 7) / 3, 8]
    assert 0 < model.weight.abs().item() < before


def test_the_learning_rate_is_highest_after_thirty_percent_of_the_steps():
    rates = []
    hook = register_optimizer_step_pre_hook(lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"]))
    fit_a_line(steps=20)
    hook.remove()
    assert len(rates) == 20 and max(rates) == rates[5] == 0.3  # at the sixth of twenty, what was asked for


@pytest.mark.parametrize(("name", "number"), [("steps", 0), ("steps", -3), ("every", 0), ("every", 2.5)])
def test_without_steps_nothing_is_trained(name, number):
    model = nn.Linear(1, 1)
    before = model.weight.item()
    options = {"steps": 25, "peak_lr": 0.3} | {name: number}
    with pytest.raises(ValueError, match=f"{name} must be a whole number, 1 or more, got {number}"):
        training.train(model, lambda: None, lambda model, batch: model.weight.sum(), **options)
    assert model.weight.item() == before


def test_sequence_loss_of_a_uniform_guess_is_log_n():
    pairs = type("Pairs", (), {"source": torch.zeros(2, 3).long(), "target": torch.tensor([[0, 1, 2], [3, 4, 0]])})
    loss = training.sequence_loss(lambda source, target: (torch.zeros(2, 3, 5), None), pairs)
    assert loss.item() == pytest.approx(math.log(5))


def test_sequence_loss_leaves_padding_out():
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    target = torch.tensor([[3, 1, 0], [2, 0, 0]])
    pairs = type("Pairs", (), {"source": target, "target": target})
    loss = training.sequence_loss(lambda source, target: (logits, None), pairs, pad=0)
    log_p = logits.double().log_softmax(-1)
    assert loss.item() == pytest.approx(-(log_p[0, 0, 3] + log_p[0, 1, 1] + log_p[1, 0, 2]).item() / 3)


def test_accuracy_counts_symbols_and_sequences():
    written = torch.tensor([[1, 2, 3], [1, 2, 3], [1, 2, 3], [3, 2, 1]])
    target = torch.tensor([[1, 2, 3], [1, 2, 4], [0, 0, 0], [3, 2, 1]])
    assert training.accuracy(written, target) == pytest.approx({"symbols": 8 / 12, "sequences": 2 / 4})
    with pytest.raises(ValueError, match="target's shape"):
        training.accuracy(written, target[:, :2])


def test_alignment_error_counts_misses_of_the_largest_weight():
    weights = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
    gold = torch.tensor([[True, False, False], [False, False, True], [True, False, True], [False, True, False]])
    assert training.alignment_error(weights, gold) == pytest.approx(2 / 4)
    assert training.alignment_error(gold.float(), gold) == 0
    with pytest.raises(ValueError, match="weights' shape"):
        training.alignment_error(weights, gold[:2])
