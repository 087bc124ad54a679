"""The kernel in Triton as a device compiles it: what the interpreter in efficient/test_flash_triton.py cannot show."""

import pytest
import torch
import torch.nn.functional as F
from contract import relative_error
from seeding import seeded
from where import DEVICE, on_a_gpu

ALLOWED = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
FIRST_BEYOND = 2**31  # the number of the first number whose place does not fit into 32 bits


def attend(*tokens, causal=False):
    from attention_course.efficient.flash_triton import flash_attention_triton

    return flash_attention_triton(*tokens, causal=causal)[0]


@on_a_gpu
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("width", [40, 64, 128, 256])  # wide heads leave no room for tiles that are loaded ahead
@pytest.mark.parametrize("dtype", ALLOWED, ids=str)
@torch.no_grad()
def test_compiled_it_is_exact_attention(dtype, width, causal, record_property):
    tokens = torch.randn(3, 1, 2, 1000, width, generator=seeded()).to(dtype)
    expected = F.scaled_dot_product_attention(*tokens.double(), is_causal=causal)
    found = relative_error(attend(*tokens.to(DEVICE), causal=causal).cpu(), expected)
    record_property("error", found)
    assert found < ALLOWED[dtype]


@on_a_gpu
@torch.no_grad()
def test_more_numbers_than_32_bits_count():
    n_tokens, width = 1024, 64
    n_heads = FIRST_BEYOND // (n_tokens * width) + 2
    needed = 4 * n_heads * n_tokens * width * 2  # bytes: three inputs and the output, in half precision
    free, _ = torch.cuda.mem_get_info()
    if free < 1.1 * needed:
        pytest.skip(f"needs {needed / 2**30:.0f} GiB of the device's memory")
    query, key, value = (torch.zeros(1, n_heads, n_tokens, width, dtype=torch.float16, device=DEVICE) for _ in range(3))
    last = torch.randn(3, 1, 1, n_tokens, width, generator=seeded()).half()
    for whole, part in zip((query, key, value), last, strict=True):
        whole[:, -1:] = part.to(DEVICE)
    found = attend(query, key, value)[:, -1:].cpu()
    assert relative_error(found, F.scaled_dot_product_attention(*last.double())) < ALLOWED[torch.float16]
