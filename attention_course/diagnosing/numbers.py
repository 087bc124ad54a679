"""Questions about numbers: NaN, gradients, precision, arguments written into, the scale."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import Knowledge, weights_of
from attention_course.diagnosing.subject import Sizes, Subject
from attention_course.diagnosing.watching import watched

HALVES = {torch.float16: 0.05, torch.bfloat16: 0.2}  # what rounding may move, as a share of the largest output


def ask_empty(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is the output, or a gradient, NaN where a query may see nothing?"""
    subject = known.subject
    for argument, works in known.masks.items():
        if works is None or "added" in works.form.meaning:
            continue
        tokens = subject.draw(sizes)
        may = torch.ones(len(tokens[0]), tokens[0].size(2), tokens[1].size(2), dtype=torch.bool)
        may[0, :1 if works.form.by_query else None] = False
        options = works.form.build(may, subject.dtype)
        try:
            output, gradients = _backward(subject, tokens, options)
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


def _backward(
    subject: Subject, tokens: list[Tensor], options: dict[str, Any]
) -> tuple[Tensor, dict[str, Tensor | None]]:
    """The output, and the gradients of its squares for inputs and parameters, by name."""
    if subject.numpy:
        return subject(tokens, **options), {}
    attention = subject.fresh()
    leaves = {id(tensor): tensor.detach().clone().requires_grad_() for tensor in tokens}
    given = [leaves[id(tensor)] for tensor in tokens]
    named = dict(zip(subject.signature.tokens, given))
    if isinstance(attention, nn.Module):
        named |= {name: each for name, each in attention.named_parameters() if each.requires_grad}
    output = subject(given, attention, **options)
    if not output.requires_grad:
        return output, dict.fromkeys(named)
    generator = torch.Generator().manual_seed(2)
    target = torch.randn(output.shape, generator=generator, dtype=output.dtype)
    found = torch.autograd.grad((output * target).sum(), list(named.values()), allow_unused=True)
    return output.detach(), dict(zip(named, found))


def ask_gradient(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does a gradient reach each input and each matrix?"""
    subject = known.subject
    if subject.numpy:
        return None
    _, gradients = _backward(subject, subject.draw(sizes), {})
    for name, gradient in gradients.items():
        if gradient is None:
            return Finding("no_gradient", f"no gradient reaches {name}")
        if gradient.dim() > 1:
            strongest = max(each.abs().max().item() for each in gradients.values() if each is not None)
            dead = _dead_part(gradient, 1e-12 * strongest, name in subject.signature.tokens)
            if dead:
                return Finding("no_gradient", f"the gradient of {dead} {name} is 0")
    return None


def _dead_part(gradient: Tensor, floor: float, is_token: bool) -> str | None:
    """All of it, or a third of the rows or columns, as where queries, keys and values share a matrix."""
    if not gradient.abs().max() > floor:
        return "all of"
    if not is_token:
        for dim in (0, 1):
            if gradient.size(dim) == 3 * gradient.size(1 - dim):
                thirds = gradient.movedim(dim, 0).unflatten(0, (3, -1)).flatten(1).abs().amax(1)
                if (thirds <= floor).any():
                    return "a third of"
    return None


def ask_writes(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Is something written into what was given?"""
    subject = known.subject
    for name, options in known.options(sizes).items():
        tokens = subject.draw(sizes)
        given = {**dict(zip(subject.signature.tokens, tokens)), **options}
        before = {each: tensor.clone() for each, tensor in given.items() if isinstance(tensor, Tensor)}
        with torch.no_grad():
            subject.raw(tokens, **options)
        for each, tensor in before.items():
            if not torch.equal(tensor.nan_to_num(7.0) if tensor.is_floating_point() else tensor, _filled(given[each])):
                return Finding("writes_arguments", f"{name}, {each} is not what it was after the call")
    return None


def _filled(tensor):
    return tensor.nan_to_num(7.0) if tensor.is_floating_point() else tensor


@torch.no_grad()
def ask_half(known: Knowledge, sizes: Sizes) -> Finding | None:
    """In half precision, is the result another one, or none?"""
    subject = known.subject
    if subject.numpy:
        return None
    for dtype, share in HALVES.items():
        told = str(dtype).removeprefix("torch.")
        for name, options in known.options(sizes).items():
            tokens = subject.draw(sizes)
            expected = subject(tokens, **options)
            halved = {each: _to(tensor, dtype) for each, tensor in options.items()}
            attention = subject.fresh()
            attention = attention.to(dtype) if isinstance(attention, nn.Module) else attention
            base, subject.dtype = subject.dtype, dtype
            try:
                output = subject([tensor.to(dtype) for tensor in tokens], attention, **halved)
            except Exception as error:  # whatever somebody's code may raise
                if "not implemented for" in str(error):
                    continue
                return Finding("half_precision", f"in {told}, {name}: {type(error).__name__}: {str(error)[:150]}")
            finally:
                subject.dtype = base
            if not _near(output, expected, share):
                return Finding("half_precision", f"in {told}, {name}, {_far(output, expected)}")
    return None


@torch.no_grad()
def ask_autocast(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Under autocast, is the result another one, or none?"""
    subject = known.subject
    if subject.numpy:
        return None
    base = subject.dtype
    for name, options in known.options(sizes).items():
        expected = subject(subject.draw(sizes), **options)
        subject.dtype = torch.float32
        singles = {each: _to(tensor, torch.float32) for each, tensor in options.items()}
        try:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                output = subject(subject.draw(sizes), **singles)
        except Exception as error:  # whatever somebody's code may raise
            return Finding("autocast", f"under autocast, {name}: {type(error).__name__}: {str(error)[:150]}")
        finally:
            subject.dtype = base
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


@torch.no_grad()
def found_scale(subject: Subject, sizes: Sizes) -> tuple[float, int] | None:
    """What dot products of queries and keys are multiplied by, and the width of a head, where both can be seen."""
    if subject.numpy:
        return None
    sizes = sizes._replace(n_keys=subject.width) if _is_function(subject) else sizes
    tokens = subject.draw(sizes)
    weights = weights_of(subject, sizes)
    if weights is None or not (weights > 0).all():
        return None
    if _is_function(subject):
        products, before = tokens[0] @ tokens[1].mT, 1.0
        width = subject.width
    else:
        seen = _seen_products(subject, tokens)
        if seen is None:
            return None
        products, before, width = seen
        if products.numel() != weights.numel():
            return None
        products = products.reshape(weights.shape)
    logs = weights.double().log()
    logs, products = (each - each.mean(-1, keepdim=True) for each in (logs, products.double()))
    slope = (logs * products).sum() / products.square().sum()
    if not torch.allclose(logs, slope * products, atol=1e-3 * logs.abs().max().item()):
        return None
    return slope.item() * before, width


def _is_function(subject):
    return subject.kind == "triple" and not isinstance(subject.attention, nn.Module)


def _seen_products(subject: Subject, tokens: list[Tensor]) -> tuple[Tensor, float, int] | None:
    """The product of queries and keys that was watched, and by how much its factors had been multiplied before."""
    attention, projected = subject.fresh(), []
    for module in attention.modules():
        if isinstance(module, nn.Linear):
            module.register_forward_hook(lambda module, given, output: projected.append(output))
    with watched(tokens[0].size(2), tokens[1].size(2)) as watch:
        subject.raw(tokens, attention)
    if not watch.scores:
        return None
    left, right = watch.scores[-1]
    width, before = left.size(-1), 1.0
    for factor in (left.reshape(-1, left.size(-2), width)[0, 0], right.mT.reshape(-1, right.size(-1), width)[0, 0]):
        chunks = [chunk for each in projected for chunk in each.reshape(-1, each.size(-1))[0].split(width)]
        chunks = [chunk for chunk in chunks if chunk.numel() == width]
        like = [torch.cosine_similarity(factor, chunk, dim=0).item() for chunk in chunks]
        if not like or max(like) < 1 - 1e-5:
            return None
        before *= (factor.norm() / chunks[like.index(max(like))].norm()).item()
    return left @ right, before, width


def ask_scale(known: Knowledge, sizes: Sizes) -> Finding | None:
    """By what are dot products multiplied, and was another scale told?"""
    found = found_scale(known.subject, sizes)
    if found is None:
        return None
    scale, width = found
    usual = 1 / math.sqrt(width)
    told = known.told.scale
    expected = usual if told in (None, "1/sqrt(d)") else float(told)
    if math.isclose(scale, expected, rel_tol=0.01):
        return None
    is_what = "no scale" if math.isclose(scale, 1, rel_tol=0.01) else f"scale {scale:.3g}"
    sentence = f"found: {is_what}; 1/sqrt(d) would be {usual:.3g} for heads of width {width}"
    if told is not None:
        sentence = f"found: {is_what}; told: {expected:.3g}"
    return Finding("scale", sentence, note=told is None)


@torch.no_grad()
def ask_remembers(known: Knowledge, sizes: Sizes) -> Finding | None:
    """Does an earlier call with another length change a later one, where nothing speaks of a cache?"""
    subject = known.subject
    said = " ".join([*subject.signature.all_names, *dir(subject.attention)]).lower()
    if not isinstance(subject.attention, nn.Module) or "cache" in said or "past" in said or "reset" in said:
        return None
    attention, tokens = subject.fresh(), subject.draw(sizes)
    expected = subject(tokens)
    longer = sizes._replace(n_queries=sizes.n_queries + 3, n_keys=sizes.n_keys + 3)
    for other in (longer, sizes._replace(n_queries=2, n_keys=2)):
        try:
            subject(subject.draw(other), attention)
            after = subject(tokens, attention)
        except Exception as error:  # whatever somebody's code may raise
            told = f"{type(error).__name__}: {str(error)[:150]}"
            return Finding("remembers", f"after a call with {other.n_queries} tokens, {sizes.n_queries} raise {told}")
        if subject.moved(after - expected, expected).any():
            return Finding("remembers", f"a call with {other.n_queries} tokens changes what {sizes.n_queries} get later")
    return None
