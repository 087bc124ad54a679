"""Somebody's attention behind one way of calling it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.diagnosing.examine import copied
from attention_course.diagnosing.layouts import Layout
from attention_course.diagnosing.modules import cast
from attention_course.diagnosing.signature import Signature


class Sizes(NamedTuple):
    """How large an input is."""

    batch: int
    n_queries: int
    n_keys: int


USUAL = Sizes(2, 5, 7)  # no two alike, and none a usual width: what is exchanged shows


class Way(NamedTuple):
    """One way of calling an attention."""

    layout: Layout
    width: int  # numbers a token (of each head, where the layout has heads)
    numpy: bool  # it takes arrays of NumPy
    equal: bool  # it takes as many queries as keys only
    single: bool  # it takes a single query, without a dimension for it
    base: dict[str, Tensor]  # masks that must be given where nothing is to be hidden, by their arguments
    dtype: torch.dtype = torch.float32  # of the tokens
    size: float = 1.0  # the spread of their numbers


class Subject:
    """An attention, called with tokens of shape `(batch, heads, n, d)` whatever its own layout is.

    Attributes:
        kind: `"self"` (it takes one sequence), `"cross"` (two) or `"triple"` (query, key, value).
    """

    heads = 3

    def __init__(self, attention: Callable, signature: Signature, way: Way):
        self.attention, self.signature, self.way = attention, signature, way
        self.layout, self.width, self.numpy, self.equal, self.single, self.base, self.dtype, self.size = way
        self.kind = ("self", "cross", "triple")[len(signature.tokens) - 1]
        self.training = False

    def at(self, dtype: torch.dtype) -> "Subject":
        """The same with tokens of another dtype."""
        return Subject(self.attention, self.signature, self.way._replace(dtype=dtype))

    def sized(self, size: float) -> "Subject":
        """The same with tokens of another size."""
        return Subject(self.attention, self.signature, self.way._replace(size=size))

    @cached_property
    @torch.no_grad()
    def blends(self) -> bool:
        """Whether it is a function whose output blends the values as they are, with no layer between.

        Then values twice as large, each number one place on, come out so.
        """
        if self.kind != "triple" or isinstance(self.attention, nn.Module):
            return False
        query, key, value = self.draw(USUAL)
        try:
            before, after = self([query, key, value]), self([query, key, 2 * value.roll(1, -1)])
        except Exception:  # whatever somebody's code may raise
            return False
        return before.shape == after.shape and not self.moved(after - 2 * before.roll(1, -1), before).any()

    @torch.no_grad()
    def mixed(self) -> str | None:
        """What has a say in its neighbours, `"sequences"` or `"heads"`, if either does."""
        tokens = self.draw(USUAL)
        before = self(tokens)
        for dim, name in enumerate(("batch", "heads")):
            for place in (0, -1) if getattr(self.layout, name) else ():
                changed = [tensor.clone() for tensor in tokens]
                for tensor, other in zip(changed, self.draw(USUAL, seed=1), strict=True):
                    tensor.select(dim, place).copy_(other.select(dim, place))
                moved = self.moved(self(changed) - before, before)
                moved.select(dim, place).fill_(False)
                if moved.any():
                    return ("sequences", "heads")[dim]
        return None

    @property
    def tiny(self) -> float:
        """What rounding may move, as a share of the largest output."""
        return 1e-6 if self.dtype == torch.float64 else 1e-4

    def moved(self, difference: Tensor, before: Tensor) -> Tensor:
        """Where a difference is more than rounding; NaN is."""
        scale = before.nan_to_num(0, 0, 0).abs().max().clamp_min(1e-6)
        return difference.nan_to_num(torch.inf, torch.inf, torch.inf).abs() > self.tiny * scale

    def draw(self, sizes: Sizes, seed: int = 0) -> list[Tensor]:
        """Random query, key and value, `(batch, heads, n, d)`; of a single sequence, three times the same."""
        generator = torch.Generator().manual_seed(seed)
        heads = self.heads if self.layout.heads else 1
        batch = sizes.batch if self.layout.batch else 1
        n_queries = 1 if self.single else sizes.n_queries
        n_keys = n_queries if self.equal else sizes.n_keys
        shapes = [(batch, heads, n, self.width) for n in (n_queries, n_keys, n_keys)]
        drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
        drawn = [(self.size * each).to(self.dtype) for each in drawn]
        if self.kind == "cross":
            drawn[2] = drawn[1]
        return [drawn[0]] * 3 if self.kind == "self" else drawn

    def arguments(self, tokens: list[Tensor]) -> list[Any]:
        """The tokens as the attention wants them."""
        given = [self.layout.put(tensor) for tensor in self.named(tokens).values()]
        if self.single:
            given[0] = given[0][:, 0]
        return [tensor.detach().numpy() for tensor in given] if self.numpy else given

    def named(self, tokens: list[Tensor]) -> dict[str, Tensor]:
        """The tokens by the names of their arguments, in whose order they are given."""
        names = self.signature.tokens
        initials = [name[0].lower() for name in names]
        order = map("qkv".index, initials) if sorted(initials) == ["k", "q", "v"] else range(len(names))
        return {name: tokens[place] for name, place in zip(names, order, strict=True)}

    def fresh(self) -> Callable:
        """A copy that nobody has called yet, in the subject's precision."""
        if isinstance(self.attention, nn.Module):
            return cast(copied(self.attention), self.dtype).train(self.training)
        return self.attention

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Call it in training mode inside; chance is the same in each call."""
        self.training = True
        try:
            yield
        finally:
            self.training = False

    def raw(self, tokens: list[Tensor], attention: Callable | None = None, seed: int = 0, **options: Any) -> Any:
        """What the attention itself returns, with chance seeded."""
        if self.numpy:
            options = {name: each.numpy() if isinstance(each, Tensor) else each for name, each in options.items()}
        given = {**self.signature.numbers, **self._base_for(tokens), **options}
        with torch.random.fork_rng(devices=[]), np.errstate(all="ignore"):
            torch.manual_seed(seed)
            return (attention or self.fresh())(*self.arguments(tokens), **given)

    def _base_for(self, tokens):
        n_queries, n_keys = tokens[0].size(2), tokens[1].size(2)
        fitted = dict.fromkeys(self.signature.left_out)
        for name, mask in self.base.items():
            dtype = self.dtype if mask.is_floating_point() else mask.dtype
            fitted[name] = torch.full((n_queries, n_keys), mask.flatten()[0].item(), dtype=dtype)
        return fitted

    def __call__(self, tokens: list[Tensor], attention: Callable | None = None, **options: Any) -> Tensor:
        """The output, `(batch, heads, n_queries, d)`; what is written into the arguments is written into copies."""
        given = [tokens[0].clone()] * 3 if self.kind == "self" else [tensor.clone() for tensor in tokens]
        options = {name: each.clone() if isinstance(each, Tensor) else each for name, each in options.items()}
        return self.output(self.raw(given, attention, **options), tokens)

    def output(self, result: Any, tokens: list[Tensor]) -> Tensor:
        """Of what was returned, the tensor that is shaped like the query."""
        asked, n_keys = tokens[0], tokens[1].size(2)
        fitting = []
        for tensor in self.tensors(result):
            if self.single and tensor.dim() == 2:
                tensor = tensor[:, None]
            if tensor.dim() == self.layout.dim and tensor.is_floating_point():
                taken = self.layout.take(tensor)
                if taken.shape[:3] == asked.shape[:3]:
                    fitting.append(taken)
        likely = [each for each in fitting if each.size(3) == self.width]
        likely += [each for each in fitting if each.size(3) != n_keys]
        if likely or fitting:
            return (likely or fitting)[0]
        shapes = [tuple(tensor.shape) for tensor in self.tensors(result)]
        raise ValueError(f"nothing that was returned has a row for each query: {shapes}")

    def tensors(self, result: Any) -> list[Tensor]:
        """The tensors in what was returned, in order; of a function of NumPy arrays, its arrays."""
        if isinstance(result, np.ndarray if self.numpy else Tensor):
            return [torch.as_tensor(result)]
        if isinstance(result, dict):
            result = list(result.values())
        return [tensor for each in result for tensor in self.tensors(each)] if isinstance(result, list | tuple) else []

    @property
    def of_pytorch(self) -> bool:
        """Whether it is PyTorch's own, whose ways are documented and worth a note."""
        attention = self.attention.func if isinstance(self.attention, partial) else self.attention
        return attention is F.scaled_dot_product_attention or type(attention).__module__.startswith("torch.")
