"""Every mechanism on the device, in each dtype and under autocast, against its definition in float64 on the CPU."""

from copy import deepcopy

import pytest
import torch
from contract import (
    PRECISIONS,
    Precision,
    case_of,
    end_of_the_ring,  # noqa: F401
    enlarged,
    gradients_of,
    relative_error,
    some_hidden,
    to_differentiate,
    tokens_of,
)
from mechanisms import CASES, FLOAT16, FLOAT32
from seeding import seeded
from torch import nn
from where import DEVICE, GPU, ROOM

# The ring needs processes that talk by NCCL: test_gpu_processes.py. FlexAttention's kernel takes no heads as narrow as
# these, and no float64: test_gpu_flex.py.
NAMES = [name for name in CASES if not name.startswith(("ring", "flex"))]
IN_FLOAT16 = Precision(FLOAT32, autocast=FLOAT16)
# On the CPU test_contract.py and test_hidden.py go through all of them: one will do.
IN_ALL = pytest.mark.parametrize("precision", PRECISIONS if GPU else [IN_FLOAT16], ids=str)
IN_SOME = pytest.mark.parametrize(
    "precision", [Precision(FLOAT32), Precision(FLOAT16), IN_FLOAT16] if GPU else [IN_FLOAT16], ids=str
)


def here(given):
    """Tokens, a mask or a mechanism on the device; of a mechanism a copy."""
    if isinstance(given, list):  # keys that are the queries stay so
        moved = {id(each): each.to(DEVICE) for each in given}
        return [moved[id(each)] for each in given]
    return deepcopy(given).to(DEVICE) if isinstance(given, nn.Module | torch.Tensor) else given


@IN_ALL
@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients_are_those_of_the_definition(name, precision, record_property):
    case, attention = case_of(name, precision)
    n_tokens = 130
    mask = some_hidden(n_tokens) if case.masked else None
    tokens = tokens_of(case, n_tokens, precision)
    exact, on_device = (to_differentiate(case, each) for each in ([one.double() for one in tokens], here(tokens)))
    expected = case.defined(attention, exact, mask)
    output = precision.output(case, here(attention), on_device, here(mask))
    assert output.device.type == DEVICE.type and output.dtype == precision.result
    probe = torch.randn(output.shape, generator=seeded(1)).to(precision.result)
    ours = gradients_of(case, output, on_device, here(probe))
    theirs = gradients_of(case, expected, exact, probe.double())
    output_error = relative_error(output.cpu(), expected)
    gradient_error = max(relative_error(mine.cpu(), its) for mine, its in zip(ours, theirs, strict=True))
    record_property("output_error", output_error)
    record_property("gradient_error", gradient_error)
    allowed = precision.errors(case)
    assert output_error < ROOM * allowed[0] and gradient_error < ROOM * allowed[1]


@IN_SOME
@pytest.mark.parametrize("name", [name for name in NAMES if CASES[name].masked])
@torch.no_grad()
def test_hidden_keys_and_values_change_nothing(name, precision):
    case, attention = case_of(name, precision)
    mask, attention = some_hidden(70), here(attention)
    tokens = tokens_of(case, 70, precision)
    seen = mask.transpose(-2, -1)
    outputs = [
        precision.output(case, attention, here(each), here(mask))
        for each in (tokens, enlarged(tokens, ~seen, case, precision))
    ]
    # Where keys are queries, a hidden token asks as another would.
    asked = here(seen.expand_as(outputs[0]) if case.shared else torch.ones_like(outputs[0], dtype=torch.bool))
    assert torch.equal(outputs[0][asked], outputs[1][asked]) and outputs[0][asked].abs().max() > 0
