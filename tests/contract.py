"""What test_contract.py, test_hidden.py and test_refusals.py share, which run over the table in mechanisms.py."""

from contextlib import nullcontext
from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from mechanisms import BATCH, BFLOAT16, CASES, D_HEAD, FLOAT16, FLOAT32, FLOAT64, N_HEADS
from seeding import seeded
from torch import nn

from attention_course import padding_mask
from attention_course.distributed import RingAttention

EVERY = pytest.mark.parametrize("name", CASES)
MASKED = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.masked])
CAUSAL = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.causal and not case.leaks])


@dataclass(frozen=True)
class Precision:
    """What tokens and mechanisms are in, and what `torch.autocast` makes of them, if it is on."""

    dtype: torch.dtype
    autocast: torch.dtype | None = None

    @property
    def result(self) -> torch.dtype:
        return self.autocast or self.dtype

    def errors(self, case) -> tuple[float, float] | None:
        return case.autocast[self.autocast] if self.autocast else case.errors.get(self.dtype)

    def output(self, case, attention, tokens, mask=None):
        with torch.autocast(tokens[0].device.type, self.autocast) if self.autocast else nullcontext():
            return case.output(attention, tokens, mask)

    def __str__(self) -> str:
        return f"autocast {self.autocast}" if self.autocast else str(self.dtype)


PLAIN = Precision(FLOAT32)
AUTOCAST = [Precision(FLOAT32, autocast=dtype) for dtype in (BFLOAT16, FLOAT16)]
PRECISIONS = [Precision(FLOAT64), PLAIN, Precision(BFLOAT16), Precision(FLOAT16), *AUTOCAST]
IN_ALL = pytest.mark.parametrize("precision", PRECISIONS, ids=lambda precision: str(precision).replace("torch.", ""))


@pytest.fixture(scope="module", autouse=True)
def end_of_the_ring():
    """Where this is imported, what `mechanisms.alone` begins ends with the file."""
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def case_of(name, precision):
    """The case, and a mechanism in that precision."""
    case, dtype = CASES[name], precision.dtype
    if precision.errors(case) is None:
        pytest.skip(f"not in {dtype}")
    attention = case.make()
    is_module = isinstance(attention, nn.Module) and not isinstance(attention, RingAttention)
    return case, attention.to(dtype) if is_module else attention


def tokens_of(case, n_tokens, precision):
    """Query, key and value; the query is the key where they are shared."""
    drawn = torch.randn(3, BATCH, N_HEADS, n_tokens, D_HEAD, generator=seeded()).to(precision.dtype)
    query, key, value = drawn.unbind()
    return [query, query if case.shared else key, value]


def to_differentiate(case, tokens):
    copies = [each.detach().clone().requires_grad_() for each in tokens]
    return [copies[0], copies[0], copies[2]] if case.shared else copies


def gradients_of(case, output, tokens, probe):
    """Of query, key and value; zeros where the output has nothing to do with one."""
    wanted = [tokens[0], tokens[2]] if case.shared else tokens
    return torch.autograd.grad(output, wanted, probe.to(output.dtype), materialize_grads=True)


def relative_error(result, expected):
    return ((result.double() - expected).norm() / expected.norm().clamp_min(1e-30)).item()


def some_hidden(n_tokens):
    """Padding at the end of one sequence, and holes everywhere: `(BATCH, 1, 1, n_tokens)`."""
    holes = torch.rand(BATCH, 1, 1, n_tokens, generator=seeded(3)) < 0.8
    return holes & padding_mask(torch.tensor([n_tokens, (n_tokens + 1) // 2]))


def enlarged(tokens, which, case, precision, *, seen=False):
    """Tokens whose keys and values are large, of either sign, where `which` says so, `(..., tokens, 1)`.

    Where other queries see them, what those get has to be a number, and where keys and values are multiplied and
    summed, their products: the tests ask what is hidden, not what a processor's kernels make of a NaN in the next row,
    and a gradient of zero times infinity would be none.
    """
    largest = torch.finfo(precision.result).max
    share = min(case.large, 0.01) if seen else case.large
    large = share * largest
    if seen and case.sums:
        wide = torch.promote_types(precision.result, FLOAT32)
        large = min(large, share * torch.finfo(wide).max ** 0.5)
    key, value = (torch.where(which, large * each.sign(), each) for each in tokens[1:])
    return [key if case.shared else tokens[0], key, value]


def assert_zero(*results):
    for result in results:
        assert (result == 0).all()
