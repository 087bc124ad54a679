"""What every mechanism owes where sequences are long, and where it is compiled: the table stands in mechanisms.py.

torch.compile runs with its "aot_eager" backend: traced and differentiated as ever, without a C++ compiler's minute.
"""

import pytest
import torch
from contract import (
    AUTOCAST,
    EVERY,
    PLAIN,
    Precision,
    case_of,
    end_of_the_ring,  # noqa: F401
    gradients_of,
    relative_error,
    to_differentiate,
    tokens_of,
)
from mechanisms import CASES, FLOAT16, LONGEST
from seeding import seeded

from attention_course.distributed import RingAttention


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.long])
@torch.no_grad()
def test_long_sequences_in_the_narrowest_dtype_and_under_autocast(name):
    narrowest = Precision(FLOAT16) if FLOAT16 in CASES[name].errors else PLAIN
    for precision in (narrowest, *AUTOCAST):
        case, attention = case_of(name, precision)
        tokens = [each[:1, :1] for each in tokens_of(case, LONGEST, precision)]
        expected = case.defined(attention, [each.double() for each in tokens])
        output = precision.output(case, attention, tokens)
        assert output.dtype == precision.result
        assert relative_error(output, expected) < precision.errors(case)[0]


@EVERY
def test_gradients_of_long_sequences_under_autocast(name):
    case, attention = case_of(name, PLAIN)
    tokens = to_differentiate(case, [each[:1] for each in tokens_of(case, 1024, PLAIN)])
    exact = to_differentiate(case, [each.double() for each in tokens])
    expected = case.defined(attention, exact)
    probe = torch.randn(expected.shape, generator=seeded(1)).sign()
    theirs = gradients_of(case, expected, exact, probe)
    for precision in AUTOCAST:
        output_error, gradient_error = precision.errors(case)
        output = precision.output(case, attention, tokens)
        assert relative_error(output, expected) < output_error
        for mine, its in zip(gradients_of(case, output, tokens, probe), theirs, strict=True):
            assert relative_error(mine, its) < gradient_error


@pytest.mark.skipif(torch.__version__.startswith("2.5."), reason="PyTorch 2.5 cannot compile 15 of them")
@EVERY
def test_compiled_it_computes_the_same(name):
    case, attention = case_of(name, PLAIN)
    if isinstance(attention, RingAttention):
        pytest.skip("processes that wait for one another are not traced")
    torch.compiler.reset()
    compiled = torch.compile(attention, backend="aot_eager")
    if case.shared:  # its generator stays outside of what is compiled
        compiled.generator = attention.generator
    results = []
    for each in (attention, compiled):
        tokens = to_differentiate(case, tokens_of(case, 70, PLAIN))
        output = case.output(each, tokens)
        results.append([output, *gradients_of(case, output, tokens, torch.ones_like(output))])
    for plain, traced in zip(*results, strict=True):
        torch.testing.assert_close(traced, plain, atol=2e-6, rtol=2e-5)
