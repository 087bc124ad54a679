"""A question about the scale: what are dot products of queries and keys multiplied by?"""

import math

import torch
from torch import Tensor, nn

from attention_course.diagnosing.findings import Finding
from attention_course.diagnosing.knowledge import SMALL, Knowledge, weights_of
from attention_course.diagnosing.subject import Sizes, Subject
from attention_course.diagnosing.watching import watched


@torch.no_grad()
def found_scale(subject: Subject, sizes: Sizes) -> tuple[float, int] | None:
    """What dot products of queries and keys are multiplied by, and the width of a head, where both can be seen."""
    if subject.numpy:
        return None
    weights = weights_of(subject, sizes)
    if weights is None:
        return None
    tokens = subject.draw(sizes._replace(n_queries=weights.size(2), n_keys=weights.size(3)))
    if subject.blends:
        products, before, width = tokens[0] @ tokens[1].mT, 1.0, subject.width
    else:
        seen = _seen_products(subject, tokens)
        if seen is None:
            return None
        products, before, width = seen
        if products.numel() != weights.numel():
            return None
        products = products.reshape(weights.shape)
    weights, products = weights[..., -1:, :], products[..., -1:, :]  # with a causal mask, too, the last sees every key
    if not (weights > 0).all():
        return None
    logs = weights.double().log()
    logs, products = (each - each.mean(-1, keepdim=True) for each in (logs, products.double()))
    slope = (logs * products).sum() / products.square().sum()
    if not torch.allclose(logs, slope * products, atol=1e-3 * logs.abs().max().item()):
        return None
    return slope.item() * before, width


def _seen_products(subject: Subject, tokens: list[Tensor]) -> tuple[Tensor, float, int] | None:
    """The product of queries and keys that was watched, and by how much its factors had been multiplied before."""
    attention, projected = subject.fresh(), list(tokens)
    for module in attention.modules() if isinstance(attention, nn.Module) else ():
        if isinstance(module, nn.Linear):
            module.register_forward_hook(lambda module, given, output: projected.append(output))
    with watched(tokens[0].size(2), tokens[1].size(2)) as watch:
        subject.raw(tokens, attention)
    if not watch.scores:
        return None
    left, right = watch.scores[-1]
    width, before = left.size(-1), 1.0
    chunks = [chunk for each in projected for chunk in each.reshape(-1, each.size(-1))[0].split(width)]
    chunks = [chunk for chunk in chunks if chunk.numel() == width]
    for factor in (left, right.mT):
        times = [_times(row, chunks) for row in factor.reshape(-1, factor.size(-2), width)[:2, 0]]  # of two heads
        if times[0] is None or any(each and not math.isclose(each, times[0], rel_tol=1e-3) for each in times):
            return None  # as with a norm for each head: that is no scale
        before *= times[0]
    return left @ right, before, width


def _times(factor: Tensor, chunks: list[Tensor]) -> float | None:
    """How many times as long a vector is as the one of these that it is a multiple of, if it is one's."""
    like = [torch.cosine_similarity(factor, chunk, dim=0).item() for chunk in chunks]
    if not like or max(like) < 1 - 1e-5:
        return None
    return (factor.norm() / chunks[like.index(max(like))].norm()).item()


def ask_scale(known: Knowledge, sizes: Sizes) -> Finding | None:
    """By what are dot products multiplied, and was another scale told?"""
    found = found_scale(known.subject, sizes) or found_scale(known.subject.sized(SMALL), sizes)
    told = known.told.scale
    if found is None and told is not None:
        raise ValueError("which scale it uses, beside the one that was told, could not be measured")
    if found is None:
        return None
    scale, width = found
    usual = 1 / math.sqrt(width)
    expected = usual if told in (None, "1/sqrt(d)") else float(told)
    if math.isclose(scale, expected, rel_tol=0.01):
        return None
    is_what = "no scale" if math.isclose(scale, 1, rel_tol=0.01) else f"scale {scale:.3g}"
    sentence = f"found: {is_what}; 1/sqrt(d) would be {usual:.3g} for heads of width {width}"
    if told is not None:
        sentence = f"found: {is_what}; told: {expected:.3g}"
    return Finding("scale", sentence, note=told is None)
