"""Questions about numbers: NaN, gradients, and arguments that are written into."""

from typing import Any

import torch
from torch import Tensor, nn

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import Knowledge
from attention_course.diagnosing.masks import Form
from attention_course.diagnosing.subject import Sizes, Subject


def ask_finite(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is the output NaN or infinite for ordinary numbers?"""
    output = known.subject(known.subject.draw(sizes))
    bad = (~output.isfinite()).any(-1).any(1).any(0)
    if not bad.any():
        return None
    rows = ", ".join(str(row + 1) for row in bad.nonzero().flatten().tolist())
    return Finding("nan_output", f"without a mask, NaN or infinite numbers stand in these outputs: {rows}")


def ask_large(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is the output NaN or infinite for numbers that are a hundred times as large?"""
    output = known.subject([100 * tensor for tensor in known.subject.draw(sizes)])
    if output.isfinite().all():
        return None
    share = (~output.isfinite()).double().mean()
    return Finding("overflow", f"for inputs a hundred times as large, {share:.0%} of the output is NaN or infinite")


def ask_empty(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is the output, or a gradient, NaN where a query may see nothing?"""
    subject = known.subject
    for argument, works in known.masks.items():
        if works is None or "added" in works.form.meaning:
            continue
        try:
            output, gradients = _with_an_empty_row(subject, works.form, sizes)
        except Exception:  # whatever somebody's code may raise
            continue
        if output.isnan().any():
            share = output.isnan().double().mean()
            sentence = f"where {argument} hides every key from a query, {share:.0%} of the output is NaN"
            return Finding("nan_output", sentence, note=subject.of_pytorch)
        bad = [name for name, gradient in gradients.items() if gradient is not None and gradient.isnan().any()]
        if bad:
            return Finding(
                "nan_gradient", f"where {argument} hides every key from a query, the gradient of {bad[0]} is NaN"
            )
    return None


def _with_an_empty_row(subject: Subject, form: Form, sizes: Sizes) -> tuple[Tensor, dict[str, Tensor | None]]:
    """The output and the gradients where the first query, or all of the first sequence, may see nothing.

    In float32, as people call it: to softmaxes in float32, the smallest number of float64 is minus infinity.
    """
    subject = subject.at(torch.float32)
    tokens = subject.draw(sizes)
    may = torch.ones(len(tokens[0]), tokens[0].size(2), tokens[1].size(2), dtype=torch.bool)
    may[0, : 1 if form.by_query else None] = False
    return _backward(subject, tokens, form.build(may, subject.dtype))


def _backward(
    subject: Subject, tokens: list[Tensor], options: dict[str, Any]
) -> tuple[Tensor, dict[str, Tensor | None]]:
    """The output, and the gradients of its squares for inputs and parameters, by name."""
    if subject.numpy:
        return subject(tokens, **options), {}
    attention = subject.fresh()
    leaves = {id(tensor): tensor.detach().clone().requires_grad_() for tensor in tokens}
    given = [leaves[id(tensor)] + 0 for tensor in tokens]  # no leaf: what writes into it is found elsewhere
    if subject.kind == "self":
        given = given[:1] * 3
    named = {name: leaves[id(tensor)] for name, tensor in subject.named(tokens).items()}
    if isinstance(attention, nn.Module):
        named |= {name: each for name, each in attention.named_parameters() if each.requires_grad}
    output = subject(given, attention, **options)
    if not output.requires_grad:
        return output, dict.fromkeys(named)
    generator = torch.Generator().manual_seed(2)
    target = torch.randn(output.shape, generator=generator, dtype=output.dtype)
    found = torch.autograd.grad((output * target).sum(), list(named.values()), allow_unused=True)
    return output.detach(), dict(zip(named, found, strict=True))


def ask_gradient(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does a gradient reach each input and each matrix?"""
    subject = known.subject
    if subject.numpy:
        return None
    _, gradients = _backward(subject, subject.draw(sizes), {})
    unused = [name for name, gradient in gradients.items() if gradient is None and not _has_a_say(subject, name, sizes)]
    for name, gradient in gradients.items():
        if name in unused:
            continue
        if gradient is None:
            return Finding("no_gradient", f"no gradient reaches {name}")
        if gradient.dim() > 1:
            strongest = max(each.abs().max().item() for each in gradients.values() if each is not None)
            dead = _dead_part(gradient, 1e-12 * strongest, name in subject.signature.tokens)
            if dead:
                return Finding("no_gradient", f"the gradient of {dead} {name} is 0")
    if unused:
        return Finding("no_gradient", f"no gradient reaches {unused[0]}, which this call does not use", note=True)
    return None


@torch.no_grad()
def _has_a_say(subject: Subject, name: str, sizes: Sizes) -> bool:
    """Whether an input, or a parameter that other numbers are written into, moves the output: an option's may not."""
    if name in subject.signature.tokens:
        return True
    tokens, attention = subject.draw(sizes), subject.fresh()
    before, parameter = subject(tokens), attention.get_parameter(name)
    parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    return bool(subject.moved(subject(tokens, attention) - before, before).any())


def _dead_part(gradient: Tensor, floor: float, is_token: bool) -> str | None:
    """All of it, or a third of the rows or columns, as where queries, keys and values share a matrix."""
    if not gradient.abs().max() > floor:
        return "all of"
    if not is_token:
        for dim in (0, 1):
            if gradient.size(dim) == 3 * gradient.size(1 - dim):
                alive = (gradient.movedim(dim, 0).flatten(1).abs().amax(1) > floor).view(3, -1)
                # A table of positions is alive as far as there are tokens: that is no third.
                if not alive.any(1).all() and torch.equal(alive.any(1), alive.all(1)):
                    return "a third of"
    return None


def ask_writes(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is something written into what was given?"""
    subject = known.subject
    for name, options in known.options(sizes).items():
        tokens = subject.draw(sizes)
        given = {**subject.named(tokens), **options}
        before = {each: tensor.clone() for each, tensor in given.items() if isinstance(tensor, Tensor)}
        with torch.no_grad():
            subject.raw(tokens, **options)
        for each, tensor in before.items():
            if not torch.equal(_filled(tensor), _filled(given[each])):
                return Finding("writes_arguments", f"{name}, {each} is not what it was after the call")
    return None


def _filled(tensor):
    return tensor.nan_to_num(7.0) if tensor.is_floating_point() else tensor
