"""How many of SmolLM2's heads can be taken away, without training further."""

from contextlib import ExitStack

import torch
import torch.nn.functional as F
from _models import BATCH, Models, bits, rounded
from _texts import generator, pieces
from torch import Tensor

from attention_course.interpreting.ablations import head_means, switched_off

LENGTH, N_DRAWS = 48, 3
TAKEN = {"tenth": 27, "fifth": 54, "two_fifths": 108}


@torch.enable_grad()
def importance(model, symbols: Tensor) -> Tensor:
    """The mean over texts of the absolute derivative of the cost by a factor on what a head says: `(blocks, heads)`.

    Michel et al. 2019, arXiv:1905.10650, without their normalisation by block.
    """
    n_heads, total = model.blocks[0].attention.n_heads, 0.0
    for some in symbols.split(BATCH):
        factors = [torch.ones(len(some), n_heads, requires_grad=True) for _ in model.blocks]
        with ExitStack() as hooks:
            for block, factor in zip(model.blocks, factors, strict=True):

                def scale(_, inputs, factor=factor):
                    return (inputs[0].unflatten(-1, (n_heads, -1)) * factor[:, None, :, None]).flatten(-2)

                hooks.callback(block.attention.out_proj.register_forward_pre_hook(scale).remove)
            logits = model(some[:, :-1])[0]
        cost = F.cross_entropy(logits.transpose(1, 2), some[:, 1:], reduction="none").mean(1).sum()
        total = total + torch.stack(torch.autograd.grad(cost, factors), 1).abs().sum(0)
    return total / len(symbols)


def run(models: Models) -> dict:
    """The finding."""
    model = models.model
    chosen_on, texts = pieces(models.encode, LENGTH)
    means, matters = head_means(model, chosen_on), importance(model, chosen_on)
    heads = [divmod(number, matters.size(1)) for number in matters.flatten().argsort().tolist()]  # the least first

    def without(taken: list[tuple[int, int]]) -> float:
        with switched_off(model, heads=taken, means=means):
            return bits(model, texts)

    fifth = TAKEN["fifth"]
    orders = [torch.randperm(len(heads), generator=generator(seed))[:fifth].tolist() for seed in range(N_DRAWS)]
    drawn = [without([heads[number] for number in order]) for order in orders]
    return {
        "heads_that_can_go": {
            "all": bits(model, texts),
            **{name: without(heads[:n]) for name, n in TAKEN.items()},
            "random": sum(drawn) / N_DRAWS,
            "draws": drawn,
            "most": without(heads[-fifth:]),
            "importance": rounded(matters, 5),
        }
    }
