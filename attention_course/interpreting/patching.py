"""What of an answer comes back if parts of one run of a model are put into another run: activation and path patching.

Lesson: `chapters/circuits.ipynb`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from attention_course.attention import MultiHeadAttention

READS = ("query", "key", "value")


class Patching:
    """A clean run and a corrupted run of one model, and the corrupted run with something of the clean run in it.

    A head's output is its blend of the values, which W_O reads. Activation patching: Meng et al. 2022 (causal tracing,
    of hidden states), arXiv:2202.05262; Zhang and Nanda 2023, arXiv:2309.16042. Path patching: Wang et al. 2022 (they
    put the corrupted into the clean run), arXiv:2211.00593; Goldowsky-Dill et al. 2023, arXiv:2304.05969.

    Args:
        answer: Runs the model on an input; returns what is asked of it, `(batch, ...)`, such as the right answer's
            logit minus a wrong one's.
        layers: The model's attention layers as they run, each reading one sequence, as from `attention_layers(model)`.
        clean: An input.
        corrupted: Another one of the same shape.

    Attributes:
        clean, corrupted: The answers to both inputs.
        clean_heads, corrupted_heads: In both runs each layer's head outputs, side by side, `(batch, n, d_model)`.

    Raises:
        ValueError: If the inputs have different shapes, or a layer's keys are its queries.
    """

    @torch.no_grad()
    def __init__(
        self, answer: Callable[[Tensor], Tensor], layers: Sequence[MultiHeadAttention], clean: Tensor, corrupted: Tensor
    ):
        if clean.shape != corrupted.shape:
            raise ValueError(f"clean and corrupted must have one shape, got {[*clean.shape]} and {[*corrupted.shape]}")
        if any(layer.key_proj is layer.query_proj for layer in layers):
            raise ValueError("layers must have keys of their own, got a layer whose keys are its queries")
        self.layers, self._answer, self._clean_input, self._input = list(layers), answer, clean, corrupted
        self.clean, self.clean_heads = self._run(clean, "out_proj")
        self.corrupted, self.corrupted_heads = self._run(corrupted, "out_proj")

    def share(self, answer: Tensor) -> Tensor:
        """How much of the answer is back: 0 as in the corrupted run, 1 as in the clean one; of means over the batch."""
        corrupted = self.corrupted.mean(0)
        return (answer.mean(0) - corrupted) / (self.clean.mean(0) - corrupted)

    @torch.no_grad()
    def head(self, head: tuple[int, int], place: int | None = None, instead: Tensor | None = None) -> Tensor:
        """Activation patching: the answer to the corrupted input with one head's output from the clean run.

        Args:
            head: `(layer, head)`, counted from 0.
            place: At which token; at all of them if left out.
            instead: Other outputs of the layer's heads to take this head's from, as a control: `(batch, n, d_model)`.

        Raises:
            IndexError: If there is no such head or place.
        """
        part, said = self._part(head), self.clean_heads[head[0]] if instead is None else instead
        where = slice(None) if place is None else place
        with reading_instead(self.layers[head[0]].out_proj, lambda joined: _with(joined, said, part, where)):
            return self._answer(self._input)

    def heads(self, places: Sequence[int]) -> Tensor:
        """What comes back for each head at each of these places, `(n_layers, n_heads, n_places)`: `share` of `head`."""
        heads = [(number, head) for number, layer in enumerate(self.layers) for head in range(layer.n_heads)]
        shares = [self.share(self.head(head, place)) for head in heads for place in places]
        return torch.stack(shares).unflatten(0, (len(self.layers), -1, len(places)))

    @torch.no_grad()
    def path(
        self, sender: tuple[int, int] | None, receiver: tuple[int, int] | None = None, reads: str = "key"
    ) -> Tensor:
        """Path patching: the answer if only what one head reads of another's output is taken from the clean run.

        First all heads' outputs are held as in the corrupted run, but the sender's: so what the receiver reads differs
        by the sender alone, through the residual stream, norms and feed-forward layers. Then the corrupted run is made
        with the receiver's output for that.

        Args:
            sender: `(layer, head)`, its output at every token; `None` for the input itself, past all heads.
            receiver: `(layer, head)` of a later layer; if left out, the answer itself reads the sender.
            reads: What the receiver makes of it: its `query`, `key` or `value`. The other two stay corrupted, and so
                does every other head that shares its keys and values.

        Raises:
            IndexError: If there is no such head.
            ValueError: If the receiver's layer is not behind the sender's, or `reads` is none of the three.
        """
        part, received = (head and self._part(head) for head in (sender, receiver))
        if sender and receiver and receiver[0] <= sender[0]:
            raise ValueError(f"receiver must be in a layer behind the sender's, {sender[0]}, got {receiver[0]}")
        if reads not in READS:
            raise ValueError(f"reads must be one of {', '.join(READS)}, got {reads!r}")
        tokens, held = self._input if sender else self._clean_input, list(self.corrupted_heads)
        if sender:
            held[sender[0]] = _with(held[sender[0]], self.clean_heads[sender[0]], part)
        with ExitStack() as hooks:
            for layer, joined in zip(self.layers, held, strict=True):
                hooks.enter_context(reading_instead(layer.out_proj, lambda _, joined=joined: joined))
            answer, inputs = self._run(tokens, "query_proj")
        if receiver is None:
            return answer
        layer, others = self.layers[receiver[0]], self.corrupted_heads[receiver[0]]
        with (
            reading_instead(getattr(layer, f"{reads}_proj"), lambda _: inputs[receiver[0]]),
            reading_instead(layer.out_proj, lambda joined: _with(others, joined, received)),
        ):
            return self._answer(self._input)

    def _run(self, tokens: Tensor, name: str) -> tuple[Tensor, list[Tensor]]:
        """The answer, and what this projection of each layer reads."""
        read = []
        with ExitStack() as hooks:
            for layer in self.layers:
                hooks.enter_context(reading_instead(getattr(layer, name), lambda seen: read.append(seen) or seen))
            return self._answer(tokens), read

    def _part(self, head: tuple[int, int]) -> slice:
        """Where a head stands among the joined heads."""
        number, head = head
        if not (0 <= number < len(self.layers) and 0 <= head < self.layers[number].n_heads):
            raise IndexError(f"there is no head ({number}, {head}) in these layers")
        return slice(head * self.layers[number].d_head, (head + 1) * self.layers[number].d_head)


def _with(joined: Tensor, others: Tensor, part: slice, where: slice | int = slice(None)) -> Tensor:
    """A copy of joined heads with one head of others, perhaps at one place only."""
    changed = joined.clone()
    changed[:, where, part] = others[:, where, part]
    return changed


@contextmanager
def reading_instead(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Inside the `with`, a module of one input reads what `change` makes of it."""
    hook = module.register_forward_pre_hook(lambda _, inputs: (change(inputs[0]),))
    try:
        yield
    finally:
        hook.remove()
