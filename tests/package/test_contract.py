"""What every mechanism owes, whichever it is: the table of them stands in mechanisms.py.

What takes long sequences or torch.compile stands in weekly/package/test_contract_at_length.py.
"""

import importlib
import pkgutil
from copy import deepcopy

import pytest
import torch
from choosing import weekly
from contract import (
    EVERY,
    IN_ALL,
    PLAIN,
    Precision,
    case_of,
    end_of_the_ring,  # noqa: F401
    gradients_of,
    relative_error,
    some_hidden,
    to_differentiate,
    tokens_of,
)
from mechanisms import CASES, IN_NO_CASE
from seeding import seeded

import attention_course
from attention_course.distributed import RingAttention
from attention_course.mechanism import AttentionLayer, Mechanism

DRAWN = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.draws])
FINEST = Precision(torch.float64)


# No mechanism is left out ---------------------------------------------------------------------------------------------


def concrete_classes() -> set[type]:
    """All mechanisms and attention layers that are defined in the package and can be called."""
    for module in pkgutil.walk_packages(attention_course.__path__, "attention_course."):
        if not module.name.endswith("flash_triton"):  # a function, which needs Triton
            importlib.import_module(module.name)
    found, known = [Mechanism, AttentionLayer], set()
    while found:
        known.add(kind := found.pop())
        found += kind.__subclasses__()
    return {
        kind
        for kind in known
        if kind.__module__.startswith("attention_course.") and kind.forward is not torch.nn.Module.forward
    }


def test_every_mechanism_and_every_layer_is_in_the_table():
    in_a_case = {type(case.make()) for case in CASES.values()}
    missing = concrete_classes() - in_a_case - set(IN_NO_CASE)
    assert not missing, f"give each a case in mechanisms.py: {sorted(kind.__name__ for kind in missing)}"
    assert not in_a_case & set(IN_NO_CASE)


# Results and gradients within a stated error of the definition, whatever the length -----------------------------------


@EVERY
@IN_ALL
@pytest.mark.parametrize("n_tokens", [1, weekly(2), weekly(63), 64, 65, 130])
@pytest.mark.parametrize("masked", [False, True], ids=["all seen", "some hidden"])
def test_outputs_and_gradients_are_those_of_the_definition(name, precision, n_tokens, masked):
    case, attention = case_of(name, precision)
    if (case.even and n_tokens % 2) or (masked and not case.masked):
        pytest.skip("not what it takes")
    mask = some_hidden(n_tokens) if masked else None
    tokens = to_differentiate(case, tokens_of(case, n_tokens, precision))
    exact = to_differentiate(case, [each.double() for each in tokens])
    output, expected = precision.output(case, attention, tokens, mask), case.defined(attention, exact, mask)
    assert output.dtype == precision.result and output.shape == expected.shape
    probe = torch.randn(output.shape, generator=seeded(1)).to(precision.result)
    output_error, gradient_error = precision.errors(case)
    assert relative_error(output, expected) < output_error
    ours, theirs = gradients_of(case, output, tokens, probe), gradients_of(case, expected, exact, probe.double())
    # A single key's weight is 1 whatever it is: what should be a gradient of zero is the rounding of larger numbers.
    least = 0.5 * max(its.norm() for its in theirs)
    for mine, its in zip(ours, theirs, strict=True):
        assert (mine.double() - its).norm() <= gradient_error * max(its.norm(), least)


@EVERY
@pytest.mark.parametrize("n_tokens", [255, 256, 257, 511, 512, 513])
@torch.no_grad()
def test_every_tile_is_as_the_definition_says(name, n_tokens):
    case, attention = case_of(name, PLAIN)
    if case.even and n_tokens % 2:
        pytest.skip("even numbers only")
    tokens = tokens_of(case, n_tokens, PLAIN)
    expected = case.defined(attention, [each.double() for each in tokens])
    assert relative_error(case.output(attention, tokens), expected) < case.errors[PLAIN.dtype][0]


@pytest.mark.parametrize("name", ["window", "linear", "Performer", "Linformer", "LSH", "sinks"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_definition_computes_where_the_tokens_are(name, masked):
    """On the "meta" device, which stands for a GPU: it refuses what was made on the CPU, and has no numbers."""
    for case in (CASES[each] for each in (name, f"{name}, causal") if each in CASES):
        attention = case.make()
        attention = attention.to("meta") if isinstance(attention, torch.nn.Module) else attention
        tokens = [each.to("meta") for each in tokens_of(case, 16, PLAIN)]
        output = case.defined(attention, tokens, some_hidden(16).to("meta") if masked else None)
        assert output.device.type == "meta" and output.shape == tokens[2].shape


@EVERY
@torch.no_grad()
def test_it_does_not_matter_how_tokens_lie_in_memory(name):
    case, attention = case_of(name, FINEST)
    tokens = tokens_of(case, 66, FINEST)
    as_a_layer_splits_them = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in tokens]
    by_feature = [each.transpose(-2, -1).contiguous().transpose(-2, -1) for each in tokens]
    every_other = [each.repeat_interleave(2, dim=-1)[..., ::2] for each in tokens]
    expected = case.output(attention, tokens)
    for given in (as_a_layer_splits_them, by_feature, every_other):
        assert not any(each.is_contiguous() for each in given)
        if case.shared:
            given[1] = given[0]
        torch.testing.assert_close(case.output(attention, given), expected, atol=1e-12, rtol=1e-12)


@EVERY
def test_all_that_can_be_learned_has_a_gradient(name):
    case, attention = case_of(name, PLAIN)
    if not isinstance(attention, torch.nn.Module) or not list(attention.parameters()):
        pytest.skip("nothing to learn")
    case.output(attention, tokens_of(case, 70, PLAIN)).square().sum().backward()
    for learned, parameter in attention.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, learned


# What was drawn at random is kept, and each layer draws its own -------------------------------------------------------


@DRAWN
@torch.no_grad()
def test_what_was_drawn_is_saved_and_loaded(name):
    case, attention = case_of(name, PLAIN)
    tokens, other = tokens_of(case, 40, PLAIN), case.make()
    other.redraw()
    assert not torch.equal(case.output(other, tokens), case.output(attention, tokens))
    other.load_state_dict(attention.state_dict())
    assert torch.equal(case.output(other, tokens), case.output(attention, tokens))


@EVERY
@torch.no_grad()
def test_a_copy_computes_the_same(name):
    case, attention = case_of(name, PLAIN)
    if isinstance(attention, RingAttention):
        pytest.skip("a group of processes cannot be copied")
    tokens = tokens_of(case, 40, PLAIN)
    assert torch.equal(case.output(deepcopy(attention), tokens), case.output(attention, tokens))


@EVERY
@torch.no_grad()
def test_a_fresh_one_draws_its_own_and_is_otherwise_the_same(name):
    case, attention = case_of(name, PLAIN)
    if not isinstance(attention, Mechanism):
        pytest.skip("functions and layers keep nothing that layers could share")
    tokens = tokens_of(case, 40, PLAIN)
    outputs = [case.output(each, tokens) for each in (attention, attention.fresh(), attention.fresh(), attention)]
    assert torch.equal(outputs[0], outputs[3])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert torch.equal(outputs[i], outputs[j]) != case.draws
