"""What SmolLM2's query heads share, and what becomes of it if all of them share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from _models import BATCH, Models, bits
from _texts import pieces
from torch import Tensor

LENGTH = 48


@contextmanager
def with_pairs(model, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Inside the `with`, every block's pairs of keys and values, `(n_pairs, d_head, d_model)`, are changed."""
    layers = [block.attention for block in model.blocks]
    matrices = [(part.weight, layer) for layer in layers for part in (layer.key_proj, layer.value_proj)]
    kept = [weight.clone() for weight, _ in matrices]
    try:
        for weight, layer in matrices:
            pairs = weight.unflatten(0, (layer.n_kv_heads, layer.d_head))
            weight.copy_(change(pairs).expand_as(pairs).flatten(0, 1).clone())
        yield
    finally:
        for (weight, _), old in zip(matrices, kept, strict=True):
            weight.copy_(old)


@torch.no_grad()
def overlaps(model, texts: Tensor) -> tuple[float, float]:
    """The mean overlap of the weights of two heads of a block: that share keys, and that do not."""
    layer = model.blocks[0].attention
    group = torch.arange(layer.n_heads) * layer.n_kv_heads // layer.n_heads
    shared = (group[:, None] == group) & ~torch.eye(layer.n_heads, dtype=torch.bool)
    within = between = 0.0
    for some in texts.split(BATCH):
        for weights in model(some, need_weights=True)[1]:
            rest = weights[..., 2:, 1:]  # the first token left out; the second query has nothing to choose
            rest = rest / rest.sum(-1, keepdim=True).clamp_min(1e-9)
            both = torch.stack(
                [torch.minimum(rest, rest[:, [head]]).sum(-1).mean((0, 2)) for head in range(len(group))]
            )
            within += both[shared].mean().item() * len(some)
            between += both[group[:, None] != group].mean().item() * len(some)
    n = len(texts) * len(model.blocks)
    return within / n, between / n


def run(models: Models) -> dict:
    """The finding."""
    model = models.model
    _, texts = pieces(models.encode, LENGTH)
    changes = {
        "one": lambda pairs: pairs.mean(0),
        "first": lambda pairs: pairs[0],
        "wrong": lambda pairs: pairs.roll(1, 0),
    }
    found = {"bits": bits(model, texts)}
    for name, change in changes.items():
        with with_pairs(model, change):
            found[name] = bits(model, texts)
    within, between = overlaps(model, texts)
    return {"shared_heads": found | {"within": within, "between": between}}
