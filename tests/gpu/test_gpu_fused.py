"""Exact attention on the device, PyTorch's kernel and the form with weights, against float64 on the CPU."""

import pytest
import torch
import torch.nn.functional as F
from contract import relative_error
from definitions import by_definition
from seeding import seeded
from torch.nn.attention import SDPBackend, sdpa_kernel
from where import DEVICE, ROOM, on_a_gpu

from attention_course import padding_mask, scaled_dot_product_attention

N_TOKENS = 130
# Relative errors of output and gradients
ALLOWED = {torch.float32: 3e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}
BY_QUERY = torch.rand(2, 1, N_TOKENS, N_TOKENS, generator=seeded(3)) < 0.7
BY_QUERY[..., 5, :] = False  # a query that sees nothing
HIDING = {
    "nothing": {},
    "the future": {"causal": True},
    "padding": {"mask": padding_mask(torch.tensor([N_TOKENS, 60]))},
    "by query": {"mask": BY_QUERY},
    "the future and padding": {"causal": True, "mask": padding_mask(torch.tensor([N_TOKENS, 60]))},
    "the future, biased": {"causal": True, "bias": torch.randn(3, N_TOKENS, N_TOKENS, generator=seeded())},
}
DTYPES = pytest.mark.parametrize("dtype", ALLOWED, ids=str)


def drawn(dtype):
    return torch.randn(3, 2, 3, N_TOKENS, 64, generator=seeded()).to(dtype)


def error(attend, tokens, expect):
    """The largest relative error of output and gradients on the device."""
    results = []
    for each, run in ((tokens.to(DEVICE), attend), (tokens.double(), expect)):
        inputs = [one.clone().requires_grad_() for one in each]
        output = run(*inputs)
        probe = torch.randn(output.shape, generator=seeded(1)).to(output)
        results.append([output.detach(), *torch.autograd.grad(output, inputs, probe)])
    return max(relative_error(mine.cpu(), its) for mine, its in zip(*results, strict=True))


@DTYPES
@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "with weights"])
def test_exact_attention(dtype, hiding, need_weights, record_property):
    given = HIDING[hiding]
    mask, causal = given.get("mask"), given.get("causal", False)
    bias = given.get("bias", torch.zeros(())).to(dtype)  # rounded, as the tokens are, for both
    options = {name: one.to(DEVICE) if name == "mask" else one for name, one in given.items()}
    if "bias" in given:
        options["bias"] = bias.to(DEVICE)
    found = error(
        lambda *tokens: scaled_dot_product_attention(*tokens, need_weights=need_weights, **options)[0],
        drawn(dtype),
        lambda *tokens: by_definition(*tokens, mask, causal=causal, bias=bias.double()),
    )
    record_property("error", found)
    assert found < ROOM * ALLOWED[dtype]


@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "with weights"])
@DTYPES
def test_a_query_that_sees_nothing_gets_zeros_and_gives_none_a_gradient(dtype, need_weights):
    tokens = [each.to(DEVICE).requires_grad_() for each in drawn(dtype)]
    output, _ = scaled_dot_product_attention(*tokens, BY_QUERY.to(DEVICE), need_weights=need_weights)
    gradients = torch.autograd.grad(output[:, :, 5].sum(), tokens)
    assert output[:, :, 5].eq(0).all() and output[:, :, 6].ne(0).any()
    assert all(gradient.eq(0).all() for gradient in gradients)


@on_a_gpu
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kernel", ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"])
@pytest.mark.filterwarnings("ignore")  # in which PyTorch says why a kernel cannot run
def test_each_of_pytorchs_kernels_is_exact_attention(kernel, dtype, causal, record_property):
    def attend(*tokens):
        with sdpa_kernel(getattr(SDPBackend, kernel)):
            return F.scaled_dot_product_attention(*tokens, is_causal=causal)

    try:
        found = error(attend, drawn(dtype), lambda *tokens: by_definition(*tokens, causal=causal))
    except RuntimeError as refused:
        if "No available kernel" not in str(refused):
            raise
        pytest.skip(f"{kernel} does not run on this device")
    record_property("error", found)
    assert found < ROOM * ALLOWED[dtype]
