"""Heads and blocks switched off, beside models whose weights do the same; and the record of the course's own."""

import math

import pytest
import torch
import torch.nn.functional as F

from attention_course import tasks
from attention_course.course import recorded
from attention_course.course.checkpoints import load_character_model
from attention_course.interpreting.ablations import bits, head_means, measure_switched_off, switched_off
from attention_course.interpreting.circuits import attention_layers, without_heads
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import LearnedPositions, RotaryAttention

PIECES = torch.randint(6, (5, 10), generator=torch.Generator().manual_seed(0))


def make(**options):
    torch.manual_seed(0)
    return CausalLanguageModel(6, 8, 2, 2, **options).double().eval()


@torch.no_grad()
def says(model, **options):
    return model(PIECES, **options)[0]


def test_zeros_are_what_circuits_calls_a_head_taken_away():
    model = make(attention=RotaryAttention())
    heads = [(0, 1), (1, 0)]
    with without_heads(attention_layers(model), heads):
        expected = says(model)
    before = says(model)
    with switched_off(model, heads=heads):
        torch.testing.assert_close(says(model), expected)
    assert torch.equal(says(model), before)


def test_a_mean_is_a_constant_that_the_bias_could_hold():
    """A head that says its mean adds the mean times its columns of W_O, whatever it reads."""
    model = make(attention=RotaryAttention())
    means = head_means(model, PIECES)
    joined = []
    hook = model.blocks[1].attention.out_proj.register_forward_pre_hook(lambda _, inputs: joined.append(inputs[0]))
    says(model)
    hook.remove()
    torch.testing.assert_close(means[1].flatten(), joined[0].mean((0, 1)))
    with switched_off(model, heads=[(1, 0)], means=means):
        shown = says(model)
    projection = model.blocks[1].attention.out_proj
    with torch.no_grad():
        constant = projection.weight[:, :4] @ means[1, 0]
        with without_heads(attention_layers(model), [(1, 0)]):
            projection.bias += constant
            torch.testing.assert_close(shown, says(model))


@pytest.mark.parametrize("kind", ["rotary", "learned"])
def test_blocks_and_positions_go(kind):
    """A model of the other block alone, and one whose symbols may change places as long as the last stays."""
    options = {"attention": RotaryAttention()} if kind == "rotary" else {"positions": LearnedPositions(10, 8)}
    model = make(**options)
    both, before = list(model.blocks), says(model)
    model.blocks = torch.nn.ModuleList(both[1:])
    expected = says(model)
    model.blocks = torch.nn.ModuleList(both)
    with switched_off(model, blocks=[0]):
        torch.testing.assert_close(says(model), expected)
    with switched_off(model, positions=True), torch.no_grad():
        flipped, _ = model(PIECES.flip(1), causal=False)
        torch.testing.assert_close(flipped.flip(1), says(model, causal=False))
    assert torch.equal(says(model), before)


def test_what_is_measured_is_the_cost_of_each_alone():
    model = make(attention=RotaryAttention())
    found = measure_switched_off(model, PIECES)

    def cost(causal=True):
        with torch.no_grad():
            logits = model(PIECES[:, :-1], causal=causal)[0]
        return F.cross_entropy(logits.flatten(0, 1), PIECES[:, 1:].flatten()).item() / math.log(2)

    assert (found["n_pieces"], found["length"]) == (5, 9)
    assert found["bits"] == pytest.approx(cost(), abs=6e-5)
    assert found["mask"] == pytest.approx(cost(causal=False), abs=6e-5)
    with switched_off(model, positions=True):
        assert found["positions"] == pytest.approx(cost(), abs=6e-5)
    means = torch.tensor(found["means"], dtype=torch.float64)
    torch.testing.assert_close(means, head_means(model, PIECES[:, :-1]), rtol=1e-3, atol=1e-4)
    for block in range(2):
        with switched_off(model, blocks=[block]):
            assert found["blocks"][block] == pytest.approx(cost(), abs=6e-5)
        for head in range(2):
            for name, instead in (("zeros", None), ("with_means", means)):
                with switched_off(model, heads=[(block, head)], means=instead):
                    assert found[name][block][head] == pytest.approx(cost(), abs=6e-5)


def test_of_a_model_without_the_mask_all_is_measured_so():
    model = make(attention=RotaryAttention())
    free, causal = (measure_switched_off(model, PIECES, masked=masked) for masked in (False, True))
    assert (free["bits"], free["mask"]) == (causal["mask"], causal["bits"])


@pytest.mark.parametrize("trained", ["causal", "unmasked"])
def test_the_record_is_of_the_recorded_model(trained):
    """Computed again, its means and what the whole model costs, where Python has the help pages of the record."""
    model, vocabulary = load_character_model(trained)
    sample = recorded.load("character_model")["models"][trained]["sample"]["text"]
    text = tasks.python_help()
    if text.decode(text.validation[: len(sample)]) != sample:
        pytest.skip("this Python's help pages are others")
    record = recorded.load("switched_off")["models"][trained]
    n, causal = record["length"], trained == "causal"
    pieces = text.validation.unfold(0, n + 1, n)[: record["n_pieces"]]
    means = torch.tensor(record["means"])
    torch.testing.assert_close(head_means(model, pieces[:, :-1], causal=causal), means, rtol=3e-3, atol=1e-3)
    assert bits(model, pieces, causal=causal) == pytest.approx(record["bits"], abs=1e-3)
    with switched_off(model, heads=[(1, 1)], means=means):
        assert bits(model, pieces, causal=causal) == pytest.approx(record["with_means"][1][1], abs=1e-3)


def test_no_head_of_the_causal_model_is_useless():
    """On held-out text, whatever stands in its place; where one text says otherwise, it is the text."""
    record = recorded.load("switched_off")["models"]["causal"]
    for costs in (record["zeros"], record["with_means"]):
        assert min(map(min, costs)) > record["bits"] + 0.05
