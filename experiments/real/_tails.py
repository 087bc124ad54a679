"""Patching in a model that begins at any block, behind the words that clean and corrupted sentences share: faster."""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor

from attention_course.interpreting.circuits import attention_layers
from attention_course.interpreting.patching import Patching


class Tails:
    """A model behind the words that clean and corrupted sentences share: it can begin at any block.

    Args:
        model: The whole model.
        texts: Sentences of each kind, `(n_sentences, n)`, and under `names` the symbols of the right name and of the
            other, `(n_sentences, 2)`.
        kind: Of the corruption.
    """

    @torch.no_grad()
    def __init__(self, model, texts: dict[str, Tensor], kind: str = "corrupted"):
        self.model, self.names = model, texts["names"]
        self.layers, self.caches = attention_layers(model), model.new_caches()
        shared = (texts["clean"] != texts[kind]).any(0).nonzero()[0].item()
        model(texts["clean"][:, :shared], caches=self.caches)
        self.entering = {}
        for run in ("clean", kind):
            streams = [model.embedding(texts[run][:, shared:])]
            for block, cache in zip(model.blocks, self.caches, strict=True):
                streams.append(block(streams[-1], causal=True, cache=deepcopy(cache))[0])
            self.entering[run] = streams
        self.kind, self.behind = kind, {}

    def answer(self, block: int) -> Callable[[Tensor], Tensor]:
        """From what enters a block to the right name's logit minus the other's, `(n_sentences,)`."""

        def run(stream: Tensor) -> Tensor:
            right, other = self.logits(block, stream).unbind(-1)
            return right - other

        return run

    def logits(self, block: int, stream: Tensor) -> Tensor:
        """From what enters a block to the logits of the right name and of the other, `(n_sentences, 2)`."""
        for one, cache in zip(self.model.blocks[block:], self.caches[block:], strict=True):
            stream, _ = one(stream, causal=True, cache=deepcopy(cache))
        return self.model.lm_head(self.model.norm(stream[:, -1])).gather(-1, self.names)

    def patching(self, block: int) -> Patching:
        """Both runs from this block on, which is number 0 there."""
        if block not in self.behind:
            streams = (self.entering[kind][block] for kind in ("clean", self.kind))
            self.behind[block] = Patching(self.answer(block), self.layers[block:], *streams)
        return self.behind[block]

    def back(self, head: tuple[int, int], place: int | None, mean: bool = False) -> float:
        """What comes back with one head's output at one place."""
        patching = self.patching(head[0])
        said = patching.clean_heads[0]
        instead = said.mean(0).expand_as(said) if mean else None
        return patching.share(patching.head((0, head[1]), place, instead)).item()

    def path(self, sender: tuple[int, int], receiver: tuple[int, int] | None = None, reads: str = "key") -> float:
        """What comes back through one path."""
        patching = self.patching(sender[0])
        behind = None if receiver is None else (receiver[0] - sender[0], receiver[1])
        return patching.share(patching.path((0, sender[1]), behind, reads)).item()
