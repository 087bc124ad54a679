"""Questions about half precision, as weights and under autocast."""

import torch
from torch import Tensor, nn

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import Knowledge
from attention_course.diagnosing.modules import cast
from attention_course.diagnosing.subject import Sizes

HALVES = {torch.float16: 0.05, torch.bfloat16: 0.2}  # what rounding may move, as a share of the largest output


@torch.no_grad()
def ask_half(known: Knowledge, sizes: Sizes) -> Finding | None:
    """In half precision, is the result another one, or none?"""
    subject = known.subject
    module = isinstance(subject.attention, nn.Module)
    if subject.numpy or (not module and subject.dtype == torch.float32):  # a function around weights in float32
        return None
    for dtype, share in HALVES.items():
        told = str(dtype).removeprefix("torch.")
        for name, options in known.options(sizes).items():
            tokens = subject.draw(sizes)
            expected = subject(tokens, **options)
            halved = {each: _to(tensor, dtype) for each, tensor in options.items()}
            attention = subject.fresh()
            attention = cast(attention, dtype) if module else attention
            try:
                output = subject.at(dtype)([tensor.to(dtype) for tensor in tokens], attention, **halved)
            except Exception as error:  # whatever somebody's code may raise
                if "not implemented for" in str(error):
                    continue
                return Finding("half_precision", f"in {told}, {name}: {type(error).__name__}: {str(error)[:150]}")
            if not _near(output, expected, share):
                return Finding("half_precision", f"in {told}, {name}, {_far(output, expected)}")
    return None


@torch.no_grad()
def ask_autocast(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Under autocast, is the result another one, or none?"""
    subject = known.subject
    if subject.numpy:
        return None
    single = subject.at(torch.float32)
    for name, options in known.options(sizes).items():
        expected = subject(subject.draw(sizes), **options)
        singles = {each: _to(tensor, torch.float32) for each, tensor in options.items()}
        try:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                output = single(single.draw(sizes), **singles)
        except Exception as error:  # whatever somebody's code may raise
            return Finding("autocast", f"under autocast, {name}: {type(error).__name__}: {str(error)[:150]}")
        if not _near(output, expected, HALVES[torch.bfloat16]):
            return Finding("autocast", f"under autocast, {name}, {_far(output, expected)}")
    return None


def _to(value, dtype):
    return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value


def _near(output, expected, share):
    return bool((output.double() - expected.double()).abs().max() <= share * expected.abs().max())


def _far(output, expected):
    if not output.isfinite().all():
        return f"{(~output.isfinite()).double().mean():.0%} of the output is NaN or infinite"
    share = (output.double() - expected.double()).abs().max() / expected.abs().max()
    return f"the output is off by {share:.0%} of its largest number"
