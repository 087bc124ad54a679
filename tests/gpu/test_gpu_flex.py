"""FlexAttention, which on a GPU is compiled into one kernel, forward and backward, against float64 on the CPU."""

import pytest
import torch
from contract import relative_error
from definitions import by_definition
from seeding import seeded
from where import DEVICE, GPU

from attention_course import causal_mask, padding_mask, sliding_window_mask
from attention_course.efficient import flex
from attention_course.efficient.flex import FlexAttention
from attention_course.positions import alibi_slopes

N_HEADS, N_KEYS, D_HEAD = 3, 200, 64  # more keys than a block of 128, and not a multiple of one
# Of outputs and gradients, relative. The kernel may multiply float32 as TF32, with 10 bits behind the point.
ALLOWED = {torch.float32: 3e-3 if GPU else 3e-5, torch.float16: 8e-3, torch.bfloat16: 6e-2}
SLOPES = alibi_slopes(N_HEADS)
PADDING = padding_mask(torch.tensor([N_KEYS, 90]))


def near(batch, head, query, key):
    return (query - key).abs() <= 4


def later_than_three(batch, head, query, key):  # the first four queries see nothing
    return (query >= 4) & (key <= query)


def alibi(slopes):
    return lambda score, batch, head, query, key: score - slopes[head] * (query - key).abs()


def distance(n_queries):
    return -SLOPES[:, None, None] * (torch.arange(N_KEYS - n_queries, N_KEYS)[:, None] - torch.arange(N_KEYS)).abs()


# The mechanism with its functions, the mask it is given besides, and what hides and biases by definition
CASES = {
    "nothing": (lambda: FlexAttention(), None, lambda n: {}),
    "causal window": (
        lambda: FlexAttention(mask_mod=near, causal=True), None,
        lambda n: {"mask": sliding_window_mask(n, 4, N_KEYS, causal=True)},
    ),
    "causal ALiBi": (
        lambda: FlexAttention(alibi(SLOPES.to(DEVICE)), causal=True), None,
        lambda n: {"mask": causal_mask(n, N_KEYS), "bias": distance(n)},
    ),
    "empty rows": (
        lambda: FlexAttention(mask_mod=later_than_three), None,
        lambda n: {"mask": causal_mask(n, N_KEYS) & (torch.arange(N_KEYS - n, N_KEYS) >= 4)[:, None]},
    ),
    "padding": (
        lambda: FlexAttention(causal=True), PADDING, lambda n: {"mask": PADDING & causal_mask(n, N_KEYS)}
    ),
}  # fmt: skip


# On the CPU, where efficient/test_flex.py says more, two will do.
SOME = [(torch.float32, N_KEYS), (torch.float16, 5)]
ALL = [*SOME, (torch.float16, N_KEYS), (torch.bfloat16, N_KEYS)]


@pytest.mark.parametrize(("dtype", "n_queries"), ALL if GPU else SOME, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_definition_forward_and_backward(case, dtype, n_queries, record_property, monkeypatch):
    if not GPU and "ALiBi" in case and dtype != torch.float32:
        pytest.skip("the form for CPUs takes a bias in the tokens' dtype only")
    if GPU:
        torch.compiler.reset()  # or after some shapes of other tests it refuses to compile
        monkeypatch.setattr(flex, "_materialised", lambda *given: pytest.fail("the kernel was not compiled"))
    make, mask, defined = CASES[case]
    drawn = [torch.randn(2, N_HEADS, n, D_HEAD, generator=seeded(n)).to(dtype) for n in (n_queries, N_KEYS, N_KEYS)]
    tokens = [each.to(DEVICE).requires_grad_() for each in drawn]
    exact = [each.double().requires_grad_() for each in drawn]
    output, weights = make()(*tokens, None if mask is None else mask.to(DEVICE))
    expected = by_definition(*exact, **defined(n_queries))
    assert weights is None and output.dtype == dtype
    probe = torch.randn(output.shape, generator=seeded(1)).to(dtype)
    ours, theirs = (
        torch.autograd.grad(output, tokens, probe.to(DEVICE)),
        torch.autograd.grad(expected, exact, probe.double()),
    )
    # All gradients together: a query's, which sees few keys, is the small rest of large numbers.
    ours, theirs = (torch.cat([each.flatten() for each in gradients]) for gradients in (ours, theirs))
    found = max(relative_error(output.cpu(), expected), relative_error(ours.cpu(), theirs))
    record_property("error", found)
    assert found < ALLOWED[dtype]
